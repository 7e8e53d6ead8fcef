-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark dissector for Falcon: PSP with virtualization cookie on UDP port
-- 1000, the Falcon headers of Rev 0.9 (section 7), the socket protocol above
-- them, and the connection manager on UDP port 4795.
--
--	wireshark -X lua_script:falcon.lua
--	tshark -X lua_script:falcon.lua -O falcon -r FILE
--
-- What PSP encrypts stays bytes; with version 15 (none) everything is shown.

local PSP_PORT, CM_PORT = 1000, 4795
local NEXTHDR_FALCON = 252
local ICV_LEN = 16
local UNIT_NS = 131.072

local psp = Proto("falcon_psp", "PSP of Falcon")
local falcon = Proto("falcon", "Falcon Transport Protocol")
local sock = Proto("falcon_sock", "Falcon sockets")
local cm = Proto("falcon_cm", "Falcon connection manager")

local psp_versions = {
	[0] = "AES-GCM-128", [1] = "AES-GCM-256", [2] = "AES-GMAC-128",
	[3] = "AES-GMAC-256", [15] = "none",
}
local types = {
	[0x0] = "Pull Request", [0x3] = "Pull Data", [0x5] = "Push Data",
	[0x6] = "Resync", [0x8] = "NACK", [0x9] = "BACK", [0xa] = "EACK",
}
local protos = { [2] = "RDMA", [3] = "NVMe", [4] = "sockets" }
local resync_codes = {
	[1] = "CIE", [2] = "local xLR", [3] = "retransmission exhausted",
	[4] = "transaction timed out", [5] = "remote xLR", [6] = "NRE", [7] = "CID",
}
local nack_codes = {
	[1] = "no resources", [2] = "RNR", [4] = "xLR drop", [6] = "CIE",
	[7] = "NRE", [8] = "invalid CID",
}
local windows = { [0] = "request", [1] = "data" }
local cm_types = {
	"INIT", "COOKIE", "ACCEPT", "CONFIRM", "REFUSE", "RESET",
}
local cm_reasons = {
	"no service", "version", "unknown critical TLV", "parameter",
	"security", "ordering mode", "limit", "denied", "rejected by the ULP",
	"cancelled", "not confirmed in time",
}
local tlv_types = {
	[0x8001] = "ENDPOINT", [0x8002] = "ECHO", [0x8003] = "SERVICE",
	[0x8004] = "SEQUENCE", [0x8005] = "TIME", [0x8006] = "WINDOW",
	[0x8007] = "PATH", [0x8008] = "TIMERS", [0x8009] = "CREDITS",
	[0x800a] = "FEATURES", [0x800b] = "SECURITY", [0x800c] = "KEY_ID",
	[0x800d] = "DH", [0x800e] = "WRAPPED", [0x800f] = "KEY_CONF",
	[0x8010] = "PRIVATE", [0x8011] = "REASON", [0x7ffd] = "PAD",
	[0xfffe] = "COOKIE", [0xffff] = "AUTH",
}

local p = {
	nexthdr = ProtoField.uint8("falcon_psp.nexthdr", "Next header"),
	ext_len = ProtoField.uint8("falcon_psp.ext_len", "Header extension length"),
	crypt_off = ProtoField.uint8("falcon_psp.crypt_off", "Crypt offset", base.DEC,
				     nil, 0x3f),
	version = ProtoField.uint8("falcon_psp.version", "Version", base.DEC,
				   psp_versions, 0x3c),
	sample = ProtoField.bool("falcon_psp.s", "Sample", 8, nil, 0x80),
	drop = ProtoField.bool("falcon_psp.d", "Drop", 8, nil, 0x40),
	cookie_present = ProtoField.bool("falcon_psp.v", "Cookie present", 8, nil,
					 0x02),
	spi = ProtoField.uint32("falcon_psp.spi", "SPI", base.HEX),
	iv = ProtoField.uint64("falcon_psp.iv", "IV (transmit time, ps)"),
	t1 = ProtoField.uint32("falcon_psp.time", "Transmit time, 131.072 ns units",
			       base.HEX),
	cookie = ProtoField.uint64("falcon_psp.cookie", "PCID", base.HEX),
	icv = ProtoField.bytes("falcon_psp.icv", "ICV"),
	sealed = ProtoField.bytes("falcon_psp.sealed", "Encrypted"),
}
psp.fields = p

local f = {
	version = ProtoField.uint8("falcon.version", "Version", base.DEC, nil, 0xf0),
	cid = ProtoField.uint24("falcon.cid", "Destination CID", base.HEX),
	fn = ProtoField.uint24("falcon.fn", "Destination Function", base.HEX),
	proto = ProtoField.uint8("falcon.proto", "Protocol Type", base.DEC, protos,
				 0xe0),
	type = ProtoField.uint8("falcon.type", "Packet Type", base.HEX, types, 0x1e),
	ar = ProtoField.bool("falcon.ar", "ACK Request", 8, nil, 0x01),
	rdbpsn = ProtoField.uint32("falcon.rdbpsn", "Receiver data base PSN"),
	rrbpsn = ProtoField.uint32("falcon.rrbpsn", "Receiver request base PSN"),
	psn = ProtoField.uint32("falcon.psn", "PSN"),
	rsn = ProtoField.uint32("falcon.rsn", "RSN"),
	req_len = ProtoField.uint16("falcon.req_len", "Request Length"),
	resync_code = ProtoField.uint8("falcon.resync.code", "Resync Code", base.DEC,
				       resync_codes),
	resync_type = ProtoField.uint8("falcon.resync.type", "Packet Type", base.HEX,
				       types, 0xf0),
	vendor = ProtoField.uint32("falcon.resync.vendor", "Vendor defined",
				   base.HEX),
	t1 = ProtoField.uint32("falcon.t1", "t1, 131.072 ns units", base.HEX),
	t2 = ProtoField.uint32("falcon.t2", "t2, 131.072 ns units", base.HEX),
	oneway = ProtoField.float("falcon.t2_t1_us", "t2 - t1 of two clocks, us"),
	hops = ProtoField.uint8("falcon.hops", "Forward hops"),
	rx_level = ProtoField.uint8("falcon.rx_level", "Rx buffer occupancy of 31"),
	ecn = ProtoField.uint16("falcon.ecn", "ECN count"),
	rue = ProtoField.uint32("falcon.rue", "CC metadata", base.HEX),
	own_req = ProtoField.bool("falcon.own.req", "Out of window: request", 8, nil,
				  0x01),
	own_data = ProtoField.bool("falcon.own.data", "Out of window: data", 8, nil,
				   0x02),
	data_ack = ProtoField.bytes("falcon.data_ack", "Data ACK bitmap"),
	data_rx = ProtoField.bytes("falcon.data_rx", "Data Rx bitmap"),
	req_bits = ProtoField.bytes("falcon.req_bits", "Request bitmap"),
	nack_psn = ProtoField.uint32("falcon.nack.psn", "NACK PSN"),
	nack_code = ProtoField.uint8("falcon.nack.code", "NACK Code", base.DEC,
				     nack_codes),
	rnr = ProtoField.uint8("falcon.nack.rnr", "RNR NACK Timeout", base.DEC, nil,
			       0x1f),
	nack_win = ProtoField.uint8("falcon.nack.win", "Window", base.DEC, windows,
				    0x80),
	ulp_code = ProtoField.uint8("falcon.nack.ulp", "ULP NACK Code"),
	payload = ProtoField.bytes("falcon.payload", "Payload"),
}
falcon.fields = f

local s = {
	data = ProtoField.bool("falcon_sock.data", "DATA", 8, nil, 0x01),
	start = ProtoField.bool("falcon_sock.start", "Message start", 8, nil, 0x02),
	msg_end = ProtoField.bool("falcon_sock.end", "Message end", 8, nil, 0x04),
	fin = ProtoField.bool("falcon_sock.fin", "FIN", 8, nil, 0x08),
	reset = ProtoField.bool("falcon_sock.reset", "RESET", 8, nil, 0x10),
	code = ProtoField.uint16("falcon_sock.code", "Reason (errno)"),
	bytes = ProtoField.bytes("falcon_sock.bytes", "Bytes"),
}
sock.fields = s

local c = {
	magic = ProtoField.string("falcon_cm.magic", "Magic"),
	version = ProtoField.uint8("falcon_cm.version", "Version"),
	type = ProtoField.uint8("falcon_cm.type", "Type", base.DEC, cm_types),
	len = ProtoField.uint16("falcon_cm.len", "Length"),
	nonce = ProtoField.uint64("falcon_cm.nonce", "Nonce", base.HEX),
	tlv = ProtoField.uint16("falcon_cm.tlv", "TLV", base.HEX, tlv_types),
	tlv_len = ProtoField.uint16("falcon_cm.tlv_len", "Length"),
	value = ProtoField.bytes("falcon_cm.value", "Value"),
	cid = ProtoField.uint32("falcon_cm.cid", "CID", base.HEX),
	fn = ProtoField.uint32("falcon_cm.fn", "Destination Function", base.HEX),
	spi = ProtoField.uint32("falcon_cm.spi", "SPI", base.HEX),
	pcid = ProtoField.uint64("falcon_cm.pcid", "PCID", base.HEX),
	service = ProtoField.uint32("falcon_cm.service", "Service"),
	src_service = ProtoField.uint32("falcon_cm.src_service", "Source service"),
	proto = ProtoField.uint8("falcon_cm.proto", "Protocol Type", base.DEC, protos),
	req_psn = ProtoField.uint32("falcon_cm.req_psn", "First request PSN"),
	data_psn = ProtoField.uint32("falcon_cm.data_psn", "First data PSN"),
	rsn = ProtoField.uint32("falcon_cm.rsn", "First RSN"),
	time = ProtoField.uint64("falcon_cm.time", "Time, ps"),
	mtu = ProtoField.uint16("falcon_cm.mtu", "MTU"),
	ttl = ProtoField.uint8("falcon_cm.ttl", "Initial TTL"),
	flows = ProtoField.uint8("falcon_cm.flows", "Flows"),
	req_win = ProtoField.uint16("falcon_cm.req_win", "Receiver request window"),
	data_win = ProtoField.uint16("falcon_cm.data_win", "Receiver data window"),
	rto = ProtoField.uint32("falcon_cm.rto", "RTO, us"),
	min_rto = ProtoField.uint32("falcon_cm.min_rto", "Least RTO, us"),
	max_rto = ProtoField.uint32("falcon_cm.max_rto", "Largest RTO, us"),
	reason = ProtoField.uint16("falcon_cm.reason", "Reason", base.DEC, cm_reasons),
	detail = ProtoField.uint16("falcon_cm.detail", "Detail", base.HEX),
}
cm.fields = c

-- Section 7.2: the first 24 bytes of every packet that is reliable
local function base_header(buf, tree)
	tree:add(f.fn, buf(4, 3))
	tree:add(f.proto, buf(7, 1))
	tree:add(f.type, buf(7, 1))
	tree:add(f.ar, buf(7, 1))
	tree:add(f.rdbpsn, buf(8, 4))
	tree:add(f.rrbpsn, buf(12, 4))
	tree:add(f.psn, buf(16, 4))
	tree:add(f.rsn, buf(20, 4))
end

-- 7.7.1, 7.8: what ACKs and NACKs share
local function ack_header(buf, tree, nack)
	tree:add(f.type, buf(7, 1))
	tree:add(f.rdbpsn, buf(8, 4))
	tree:add(f.rrbpsn, buf(12, 4))
	tree:add(f.t1, buf(16, 4))
	tree:add(f.t2, buf(20, 4))
	tree:add(f.oneway, buf(16, 8),
		 (buf(20, 4):int() - buf(16, 4):int()) * UNIT_NS / 1000)
	tree:add(f.hops, buf(24, 1), buf(24, 8):bitfield(0, 4))
	tree:add(f.rx_level, buf(24, 2), buf(24, 8):bitfield(4, 5))
	tree:add(f.ecn, buf(25, 2), buf(24, 8):bitfield(9, 14))
	if nack then
		tree:add(f.rue, buf(29, 3), buf(24, 8):bitfield(40, 24))
		return
	end
	tree:add(f.rue, buf(29, 3), buf(24, 8):bitfield(40, 22))
	tree:add(f.own_req, buf(31, 1))
	tree:add(f.own_data, buf(31, 1))
end

local function socket_payload(buf, pinfo, tree, info)
	if buf:len() < 8 then
		return info
	end
	local t = tree:add(sock, buf())
	local flags = buf(0, 1):uint()

	t:add(s.data, buf(0, 1))
	t:add(s.start, buf(0, 1))
	t:add(s.msg_end, buf(0, 1))
	t:add(s.fin, buf(0, 1))
	t:add(s.reset, buf(0, 1))
	t:add(s.code, buf(2, 2))
	if buf:len() > 8 then
		t:add(s.bytes, buf(8))
	end
	if buf(0, 1):bitfield(4, 1) == 1 then
		info = info .. " FIN"
	end
	if buf(0, 1):bitfield(3, 1) == 1 then
		info = info .. " RESET " .. buf(2, 2):uint()
	end
	if flags > 0 and buf(0, 1):bitfield(7, 1) == 1 then
		info = info .. " " .. (buf:reported_len() - 8) .. " bytes"
	end
	return info
end

local function reliable(buf, pinfo, tree, root, type)
	local lens = { [0x0] = 32, [0x3] = 24, [0x5] = 28, [0x6] = 32 }
	local len = lens[type]
	local info = string.format("%s PSN=%u RSN=%u", types[type],
				   buf(16, 4):uint(), buf(20, 4):uint())

	base_header(buf, tree)
	if type == 0x0 or type == 0x5 then
		tree:add(f.req_len, buf(26, 2))
	elseif type == 0x6 then
		tree:add(f.resync_code, buf(24, 1))
		tree:add(f.resync_type, buf(25, 1))
		tree:add(f.vendor, buf(28, 4))
		info = info .. " " .. (resync_codes[buf(24, 1):uint()] or "?")
	end
	if buf:len() <= len then
		return info
	end
	if buf(7, 1):bitfield(0, 3) == 4 then
		return socket_payload(buf(len):tvb(), pinfo, root, info)
	end
	tree:add(f.payload, buf(len))
	return info
end

local function acknowledgement(buf, tree, type)
	local info = string.format("%s data=%u requests=%u", types[type],
				   buf(8, 4):uint(), buf(12, 4):uint())

	ack_header(buf, tree, type == 0x8)
	if type == 0xa then
		-- wider windows repeat the bitmaps
		for off = 32, buf:len() - 40, 40 do
			tree:add(f.data_ack, buf(off, 16))
			tree:add(f.data_rx, buf(off + 16, 16))
			tree:add(f.req_bits, buf(off + 32, 8))
		end
	elseif type == 0x8 then
		tree:add(f.nack_psn, buf(32, 4))
		tree:add(f.nack_code, buf(36, 1))
		tree:add(f.rnr, buf(37, 1))
		tree:add(f.nack_win, buf(38, 1))
		tree:add(f.ulp_code, buf(39, 1))
		info = string.format("NACK %s PSN=%u",
				     nack_codes[buf(36, 1):uint()] or "?",
				     buf(32, 4):uint())
	end
	return info
end

local min_len = {
	[0x0] = 32, [0x3] = 24, [0x5] = 28, [0x6] = 32, [0x8] = 40, [0x9] = 32,
	[0xa] = 72,
}

function falcon.dissector(buf, pinfo, root)
	local tree = root:add(falcon, buf())
	local type

	pinfo.cols.protocol = "Falcon"
	tree:add(f.version, buf(0, 1))
	tree:add(f.cid, buf(1, 3))
	if buf:len() < 8 then
		return buf:len()
	end
	type = buf(7, 1):bitfield(3, 4)
	if not min_len[type] or buf:len() < min_len[type] then
		tree:add_expert_info(PI_MALFORMED, PI_ERROR, "Malformed Falcon header")
		return buf:len()
	end
	local info = type < 0x8 and reliable(buf, pinfo, tree, root, type) or
		     acknowledgement(buf, tree, type)
	info = string.format("CID=%#x %s", buf(1, 3):uint(), info)
	tree:append_text(", " .. info)
	pinfo.cols.info = info
	return buf:len()
end

function psp.dissector(buf, pinfo, root)
	if buf:len() < 16 or buf(0, 1):uint() ~= NEXTHDR_FALCON then
		return 0
	end
	local hdr = 8 + 8 * buf(1, 1):uint()
	local version = buf(3, 1):bitfield(2, 4)
	local icv = version == 15 and 0 or ICV_LEN

	if hdr > 24 or buf:len() < hdr + icv + 4 then
		return 0
	end
	pinfo.cols.protocol = "PSP"
	local tree = root:add(psp, buf(0, hdr))
	tree:add(p.nexthdr, buf(0, 1))
	tree:add(p.ext_len, buf(1, 1))
	tree:add(p.crypt_off, buf(2, 1))
	tree:add(p.sample, buf(3, 1))
	tree:add(p.drop, buf(3, 1))
	tree:add(p.version, buf(3, 1))
	tree:add(p.cookie_present, buf(3, 1))
	tree:add(p.spi, buf(4, 4))
	tree:add(p.iv, buf(8, 8))
	tree:add(p.t1, buf(8, 8), buf(8, 8):bitfield(15, 32))
	if hdr >= 24 then
		tree:add(p.cookie, buf(16, 8))
	end
	if icv == 0 then
		falcon.dissector(buf(hdr):tvb(), pinfo, root)
		return buf:len()
	end
	-- GCM leaves the crypt offset's words in the clear, GMAC everything.
	local inner = buf:len() - hdr - icv
	local clear = version >= 2 and inner or
		      math.min(inner, 4 * buf(2, 1):bitfield(2, 6))
	if clear >= 4 then
		falcon.dissector(buf(hdr, clear):tvb(), pinfo, root)
	end
	if inner > clear then
		tree:add(p.sealed, buf(hdr + clear, inner - clear))
	end
	tree:add(p.icv, buf(buf:len() - icv, icv))
	return buf:len()
end

local tlvs = {
	[0x8001] = function(v, t)
		t:add(c.cid, v(0, 4))
		t:add(c.fn, v(4, 4))
		t:add(c.spi, v(8, 4))
		t:add(c.pcid, v(12, 8))
	end,
	[0x8002] = function(v, t)
		t:add(c.cid, v(0, 4))
		t:add(c.pcid, v(4, 8))
	end,
	[0x8003] = function(v, t)
		t:add(c.service, v(0, 4))
		t:add(c.src_service, v(4, 4))
		t:add(c.proto, v(8, 1))
	end,
	[0x8004] = function(v, t)
		t:add(c.req_psn, v(0, 4))
		t:add(c.data_psn, v(4, 4))
		t:add(c.rsn, v(8, 4))
	end,
	[0x8005] = function(v, t)
		t:add(c.time, v(0, 8))
	end,
	[0x8006] = function(v, t)
		t:add(c.req_win, v(0, 2))
		t:add(c.data_win, v(2, 2))
	end,
	[0x8008] = function(v, t)
		t:add(c.rto, v(0, 4))
		t:add(c.min_rto, v(4, 4))
		t:add(c.max_rto, v(8, 4))
	end,
	[0x8007] = function(v, t)
		t:add(c.mtu, v(0, 2))
		t:add(c.ttl, v(2, 1))
		t:add(c.flows, v(3, 1))
	end,
	[0x8011] = function(v, t)
		t:add(c.reason, v(0, 2))
		t:add(c.detail, v(2, 2))
	end,
}
local tlv_len = {
	[0x8001] = 20, [0x8002] = 12, [0x8003] = 12, [0x8004] = 12, [0x8005] = 8,
	[0x8006] = 4, [0x8007] = 12, [0x8008] = 12, [0x8011] = 4,
}

function cm.dissector(buf, pinfo, root)
	if buf:len() < 16 or buf(0, 4):string() ~= "FLCN" then
		return 0
	end
	local tree = root:add(cm, buf())
	local info = cm_types[buf(5, 1):uint()] or "unknown"
	local off = 16

	pinfo.cols.protocol = "Falcon CM"
	tree:add(c.magic, buf(0, 4))
	tree:add(c.version, buf(4, 1))
	tree:add(c.type, buf(5, 1))
	tree:add(c.len, buf(6, 2))
	tree:add(c.nonce, buf(8, 8))
	while off + 4 <= buf:len() do
		local type, len = buf(off, 2):uint(), buf(off + 2, 2):uint()
		local fill = off + 4 + len

		if fill > buf:reported_len() then
			tree:add_expert_info(PI_MALFORMED, PI_ERROR, "TLV too long")
			break
		elseif fill > buf:len() then
			break		-- cut by the capture
		end
		local t = tree:add(c.tlv, buf(off, 2))
		t:add(c.tlv_len, buf(off + 2, 2))
		if tlvs[type] and len >= tlv_len[type] then
			tlvs[type](buf(off + 4, len):tvb(), t)
		elseif len > 0 then
			t:add(c.value, buf(off + 4, len))
		end
		if type == 0x8011 and len >= 2 then
			info = info .. ": " ..
			       (cm_reasons[buf(off + 4, 2):uint()] or "?")
		end
		off = fill + (4 - len % 4) % 4
	end
	tree:append_text(", " .. info)
	pinfo.cols.info = info
	return buf:len()
end

local ports = DissectorTable.get("udp.port")
ports:add(PSP_PORT, psp)
ports:add(CM_PORT, cm)
