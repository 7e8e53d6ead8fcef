#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# psp_decode.py - decrypts what Falcon sends, with python3-cryptography.
#
#	psp_decode.py capture DEVICE FILE     until it gets SIGTERM
#	psp_decode.py decode KEYS FILE...
#
# KEYS has a line "spi=0x... version=N key={0x..,...}" for each key, as a kprobe
# of falcon_psp_tx_install() prints it. Of every PSP packet in the captures
# "decode" checks the ICV, decrypts it, parses the Falcon header, and sees to it
# that no nonce of a key comes twice and that IVs of one sender and key rise. No
# key may have two SPIs, and no SPI two keys.
# The last line is a summary; exit status 1 if anything is wrong.

import collections
import re
import signal
import socket
import struct
import sys

PSP_PORT = 1000
CLEAR = 28
ICV = 16
MARGIN = 10**12  # ps: net.falcon.replay_margin_ms
HDR_LEN = {0: 32, 3: 24, 5: 28, 6: 32, 8: 40, 9: 32, 10: 72}
NAMES = {0: "pull_req", 3: "pull_data", 5: "push_data", 6: "resync",
         8: "nack", 9: "back", 10: "eack"}


def capture(device, path):
    """Every frame of a device, each after its length"""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)    # SO_RCVBUFFORCE
    sock.bind((device, 0))

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    with open(path, "wb") as out:
        print("capturing", flush=True)
        try:
            while True:
                frame = sock.recv(1 << 16)
                out.write(struct.pack("=I", len(frame)) + frame)
        except KeyboardInterrupt:
            pass


def frames(path):
    """What capture() has written"""
    with open(path, "rb") as f:
        while head := f.read(4):
            yield f.read(struct.unpack("=I", head)[0])


def psp_of(frame):
    """(source address, PSP packet) of a frame, or None"""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x800:
        at, proto, src = 14 + 4 * (frame[14] & 15), frame[23], frame[26:30]
    elif kind == 0x86DD:
        at, proto, src = 54, frame[20], frame[22:38]
    else:
        return None
    if proto != 17:
        return None
    dport, length = struct.unpack_from("!HH", frame, at + 2)
    if dport != PSP_PORT:
        return None
    return src, frame[at + 8:at + length]


def read_keys(path):
    """SPI -> (version, AESGCM, key)"""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    keys, spis = {}, {}
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            m = re.search(r"spi=(\w+) version=(\d+) key=\{([^}]*)\}", line)
            if m:
                version = int(m[2])
                spi = int(m[1], 16)
                key = bytes(int(b, 16) for b in m[3].split(","))
                key = key[:32 if version & 1 else 16]
                # A grant that is repeated stays what it was.
                if spis.setdefault(key, spi) != spi or \
                        keys.get(spi, (0, 0, key))[2] != key:
                    sys.exit("SPI %#x: its key is another's, too" % spi)
                keys[spi] = (version, AESGCM(key), key)
    return keys


class Decoder:
    """What has been seen, and what was wrong with it"""

    def __init__(self, keys):
        self.keys = keys
        self.types = collections.Counter()
        self.seen = set()
        self.newest = {}
        self.spis = set()
        self.wrong = 0

    def complain(self, text):
        """Notes it, says it a few times"""
        self.wrong += 1
        if self.wrong < 10:
            print("#", text)

    def packet(self, src, psp):
        """One PSP packet"""
        nexthdr, ext, crypt, flags, spi, iv, _ = struct.unpack_from(
            "!BBBBIQQ", psp)
        version = flags >> 2 & 15
        if (nexthdr, ext, crypt, flags & 0xC3) != (252, 2, 3, 3):
            return self.complain("header %s" % psp[:24].hex())
        if spi not in self.keys:
            return self.complain("no key for SPI %#x" % spi)
        if version != self.keys[spi][0]:
            return self.complain("version %d of SPI %#x" % (version, spi))
        if (spi, iv) in self.seen:
            self.complain("nonce %#x %d comes twice" % (spi, iv))
        self.seen.add((spi, iv))
        self.spis.add(spi)
        # Packets of two CPUs may overtake each other after they have an IV, by
        # less than what a receiver takes for a replay (9.2.2.2).
        newest = self.newest.get((src, spi), 0)
        if iv + MARGIN < newest:
            self.complain("IV of SPI %#x falls" % spi)
        self.newest[src, spi] = max(iv, newest)
        return self.falcon(psp, version, spi, iv)

    def falcon(self, psp, version, spi, iv):
        """What is in it"""
        clear = len(psp) - ICV if version >= 2 else CLEAR
        try:
            text = psp[24:clear] + self.keys[spi][1].decrypt(
                struct.pack("!IQ", spi, iv), psp[clear:], psp[:clear])
        except Exception:  # pylint: disable=broad-except
            return self.complain("ICV of SPI %#x IV %d" % (spi, iv))
        kind = struct.unpack_from("!I", text, 4)[0] >> 1 & 15
        if text[0] != 0x10 or len(text) < HDR_LEN.get(kind, 1 << 16):
            return self.complain("Falcon header %s" % text[:32].hex())
        self.types[NAMES[kind]] += 1
        return None


def decode(keys, paths):
    """All packets of all captures"""
    dec = Decoder(read_keys(keys))
    for path in paths:
        for frame in frames(path):
            found = psp_of(frame)
            if found:
                dec.packet(*found)
    print("packets %d keys %d wrong %d" %
          (sum(dec.types.values()), len(dec.spis), dec.wrong),
          " ".join("%s %d" % item for item in sorted(dec.types.items())))
    return 1 if dec.wrong or not dec.types else 0


def main():
    """capture or decode"""
    if len(sys.argv) == 4 and sys.argv[1] == "capture":
        capture(sys.argv[2], sys.argv[3])
        return 0
    if len(sys.argv) >= 4 and sys.argv[1] == "decode":
        return decode(sys.argv[2], sys.argv[3:])
    print("usage: psp_decode.py capture DEVICE FILE | decode KEYS FILE...")
    return 2


if __name__ == "__main__":
    sys.exit(main())
