#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# e2100_wire.py - how long packets of Falcon are on a wire, by the kernel's
# stamps of packet sockets at both of its ends: a measure that knows nothing of
# the clocks of NICs.
#
#	e2100_wire.py capture DEVICE in|out FILE	until it gets SIGTERM: key,
#							payload, time and frame of
#							each packet
#	e2100_wire.py delays OUT-FILE IN-FILE		percentiles, us
#	e2100_wire.py paced TRACE RATE BYTES		of how late packets passed,
#							us, and the goodput
#	e2100_wire.py witness CPU			until it gets SIGTERM: how
#							late a sleeper woke, us
#
# TRACE is of net:net_dev_start_xmit at the lower device. RATE is of payload, in
# bytes a second, as is the goodput: BYTES are all that the application had to
# send, whatever was sent twice. Late is what passed after its place in a comb of
# that rate, laid so that nothing is early. A sender makes up for a second that it
# was late, not for more: that time does not count. The goodput is that between
# the packets of the second and the last quarter that were late least: by then the
# application has handed over everything, and waits for nobody.
#
# The witness sleeps for 5 ms at a time; where it wakes late, the machine stood
# still.
#
# A packet is told by its source, SPI and IV, which no other packet has. A frame
# that is a train is taken apart: its packets are as long as the first, but for the
# last, and begin alike up to their SPI.

import os
import re
import signal
import socket
import struct
import sys
import time

PSP_PORT = 1000
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
HEADERS = 8 + 24 + 28   # UDP, PSP, push data
BELOW = 14 + 20         # Ethernet, IPv4
PSP_NONE = 15
PSP_ICV = 16
BEHIND_NS = 10**9


def packets_of(frame):
    """What tells each packet of Falcon in a frame from all others; its payload"""
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x0800 and frame[23] == socket.IPPROTO_UDP:
        src, udp = frame[26:30], 14 + (frame[14] & 15) * 4
    elif kind == 0x86dd and frame[20] == socket.IPPROTO_UDP:
        src, udp = frame[22:38], 54
    else:
        return
    if struct.unpack_from("!H", frame, udp + 2)[0] != PSP_PORT:
        return
    end = udp + struct.unpack_from("!H", frame, udp + 4)[0]
    off = udp + 8
    stride = frame.find(frame[off:off + 8], off + 8, end) - off
    if stride < 0:
        stride = end - off
    for off in range(off, end, stride):
        size = min(stride, end - off) + 8 - HEADERS
        if frame[off + 3] >> 2 & 15 != PSP_NONE:
            size -= PSP_ICV
        yield f"{(src + frame[off + 4:off + 16]).hex()} {size}"


def capture(device, direction, path):
    """A line for each packet"""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    sock.bind((device, 0))

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    number = 0
    with open(path, "w", encoding="ascii") as out:
        print("capturing", flush=True)
        try:
            while True:
                frame, aux, _, addr = sock.recvmsg(1 << 17, 64)
                if (addr[2] == socket.PACKET_OUTGOING) != (direction == "out"):
                    continue
                number += 1
                sec, ns = struct.unpack("qq", aux[0][2][:16])
                for packet in packets_of(frame):
                    out.write(f"{packet} {sec * 10**9 + ns} {number}\n")
        except KeyboardInterrupt:
            pass


def passed(path):
    """{key: ns} of what capture() has written"""
    with open(path, encoding="ascii") as f:
        return {key: int(ns) for key, _, ns, _ in map(str.split, f)}


def percentiles(us):
    """As text, of a list of numbers"""
    us = sorted(us)
    if not us:
        sys.exit("no packet was captured")

    def at(fraction):
        return us[int(len(us) * fraction)]

    return f"n {len(us)} min {us[0]} p50 {at(.5)} p90 {at(.9)} p99 {at(.99)}"


def delays(begin, end):
    """Percentiles of the time between two captures"""
    begin, end = passed(begin), passed(end)
    print(percentiles([(end[k] - begin[k]) // 1000
                       for k in begin.keys() & end.keys()]))


def places(packets, rate):
    """(lateness, time, bytes before) of each, without the time that is lost"""
    due, lost, before = packets[0][1], 0, 0
    for size, ns in packets:
        more = max(0, ns - lost - due - BEHIND_NS)
        lost += more
        yield ns - lost - due, ns - lost, before
        due += size * 10**9 / rate
        before += size


def traced(path):
    """[(payload, ns)] of the encrypted data packets in a trace"""
    event = re.compile(r" (\d+)\.(\d{6}): net_dev_start_xmit: .* len=(\d+) ")
    with open(path, encoding="ascii") as f:
        found = [m.groups() for m in map(event.search, f) if m]
    packets = [(int(size) - BELOW - HEADERS - PSP_ICV,
                int(sec) * 10**9 + int(us) * 1000) for sec, us, size in found]
    return sorted((p for p in packets if p[0] >= 512), key=lambda p: p[1])


def paced(path, rate, useful):
    """How well the data packets of a trace keep to a rate"""
    packets = traced(path)
    total = sum(size for size, _ in packets)
    if len(packets) < 100 or total < useful:
        sys.exit(f"{len(packets)} packets of {total} bytes were traced")
    seen = list(places(packets, rate))
    quarter = len(seen) // 4
    _, begin, first = min(seen[quarter:2 * quarter])
    _, end, last = min(seen[-quarter:])
    least = min(late for late, _, _ in seen)
    print(percentiles([int(late - least) // 1000 for late, _, _ in seen]),
          "rate", int((last - first) * useful / total * 10**9 / (end - begin)))


def witness(cpu):
    """The longest of many short sleeps, us more than it should have been"""
    os.sched_setaffinity(0, {cpu})
    late = 0

    def stop(*_):
        os.write(1, f"{late // 1000}\n".encode())
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    print(0, flush=True)
    while True:
        began = time.monotonic_ns()
        time.sleep(.005)
        late = max(late, time.monotonic_ns() - began - 5000000)


if sys.argv[1] == "capture":
    capture(*sys.argv[2:])
elif sys.argv[1] == "delays":
    delays(*sys.argv[2:])
elif sys.argv[1] == "witness":
    witness(int(sys.argv[2]))
else:
    paced(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
