#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# psp_vectors.py - known answers of PSP, computed by python3-cryptography.
#
# Prints the header that net/falcon/psp/test.c includes. With --check FILE it
# compares instead, and prints TAP: exit status 1 if FILE is not what it would
# print.

import difflib
import sys

from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

DEVKEY = [
    bytes.fromhex("34448a064292601b11a0978f56a2d34cf3fc35ede1a6bc04f8db3e5243a2b0ca"),
    bytes.fromhex("563952565d3a78ae773ec1b779f2f2d99f4a7f53a6fbb9b07d5b71f39364d739"),
]
KEY_LEN = {0: 16, 1: 32, 2: 16, 3: 32}
PCID = 0x0123456789ABCDEF
CLEAR = 28


def derive(spi, version):
    """The key of an SPI: AES-256-CMAC in counter mode under a device key."""
    key = b""
    for i in range(KEY_LEN[version] // 16):
        mac = CMAC(algorithms.AES(DEVKEY[spi >> 31]))
        mac.update((i + 1).to_bytes(4, "big") + b"Pv%d\0" % version +
                   spi.to_bytes(4, "big") +
                   (8 * KEY_LEN[version]).to_bytes(4, "big"))
        key += mac.finalize()
    return key


def seal(version, key, spi, iv, text):
    """A PSP packet of Falcon: crypt offset 12 bytes, cookie and 4 more."""
    hdr = (bytes([252, 2, 3, version << 2 | 3]) + spi.to_bytes(4, "big") +
           iv.to_bytes(8, "big") + PCID.to_bytes(8, "big"))
    nonce = spi.to_bytes(4, "big") + iv.to_bytes(8, "big")
    packet = hdr + text
    clear = len(packet) if version >= 2 else CLEAR
    return packet[:clear] + AESGCM(key).encrypt(nonce, packet[clear:],
                                                packet[:clear])


def array(data, tabs):
    """C initialisers, 8 bytes a line"""
    lines = []
    for i in range(0, len(data), 8):
        lines.append("\t" * tabs + " ".join("0x%02x," % b
                                            for b in data[i:i + 8]))
    return "\n".join(lines)


def cases():
    """(version, spi, iv, text): Falcon's length from the least to two blocks"""
    n = 0
    for version in range(4):
        for length in (4, 5, 19, 20, 36, 60):
            n += 1
            spi = (0x9A345678 if n & 1 else 0x1A345678) + n
            iv = 0x0123456789ABCDEF * n & (2 ** 63 - 1)
            text = bytes((7 * i + n) & 0xFF for i in range(length))
            yield version, spi, iv, text


def header():
    """The whole file"""
    out = ["/* SPDX-License-Identifier: GPL-2.0 */",
           "/* Made by tools/testing/falcon/psp/psp_vectors.py: do not edit. */",
           "#ifndef _FALCON_PSP_TEST_VECTORS_H",
           "#define _FALCON_PSP_TEST_VECTORS_H",
           "",
           "static const u8 psp_devkey[2][32] = {"]
    for key in DEVKEY:
        out += ["\t{", array(key, 2), "\t},"]
    out += ["};", "",
            "static const struct psp_kdf_vector {",
            "\tu32 spi;",
            "\tu8  version;",
            "\tu8  key[32];",
            "} psp_kdf_vectors[] = {"]
    for spi in (0x9A345678, 0x1A345678):
        for version in range(4):
            out += ["\t{ 0x%08x, %d, {" % (spi, version),
                    array(derive(spi, version), 2), "\t} },"]
    out += ["};", "",
            "static const struct psp_packet_vector {",
            "\tu8  version;",
            "\tu32 spi;",
            "\tu64 iv;",
            "\tunsigned int len;",
            "\tu8  key[32];",
            "\tu8  text[64];",
            "\tu8  packet[104];",
            "} psp_packet_vectors[] = {"]
    for version, spi, iv, text in cases():
        key = derive(spi, version)
        packet = seal(version, key, spi, iv, text)
        out += ["\t{", "\t\t%d, 0x%08x, 0x%016xULL, %d," %
                (version, spi, iv, len(packet)),
                "\t\t{", array(key, 3), "\t\t}, {", array(text, 3),
                "\t\t}, {", array(packet, 3), "\t\t},", "\t},"]
    out += ["};", "", "#endif /* _FALCON_PSP_TEST_VECTORS_H */", ""]
    return "\n".join(out)


def main():
    """Prints or compares"""
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="ascii") as f:
            have = f.read()
        diff = list(difflib.unified_diff(have.splitlines(),
                                         header().splitlines(), lineterm=""))
        print("1..1")
        for line in diff:
            print("#", line)
        print("%sok 1 - %s is what is computed here" %
              ("not " if diff else "", sys.argv[2]))
        return 1 if diff else 0
    sys.stdout.write(header())
    return 0


if __name__ == "__main__":
    sys.exit(main())
