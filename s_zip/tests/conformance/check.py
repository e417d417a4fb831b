"""Reads archives with zipfile and prints what is in them, as tests/conformance.rs expects it: per archive "# PATH", the comment,
a line per entry with fields between tabs, and "! MESSAGE" if something is wrong. Names and comments are in hexadecimal."""

import binascii
import sys
import zipfile


def read(archive, info):
    """The CRC of an entry's data; zipfile has compared it by then."""
    crc = size = 0
    with archive.open(info) as data:
        while piece := data.read(1 << 20):
            crc = binascii.crc32(piece, crc)
            size += len(piece)
    if size != info.file_size:
        raise ValueError(f"{info.filename} has {size} bytes, not {info.file_size}")
    return crc


def check(path):
    with zipfile.ZipFile(path) as archive:
        print("comment", archive.comment.hex(), sep="\t")
        entries = archive.infolist()
        known = True
        for info in entries:
            try:
                crc = read(archive, info)
            except NotImplementedError:
                crc = info.CRC
                known = False
            print(
                info.filename.encode().hex(),
                info.file_size,
                f"{crc:08x}",
                f"{info.external_attr >> 16:o}",
                "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*info.date_time),
                info.comment.hex(),
                info.compress_type,
                info.flag_bits >> 3 & 1,
                sep="\t",
            )
        # It reads everything once more, which for many or large entries takes long and tells nothing new.
        small = len(entries) <= 1000 and sum(info.file_size for info in entries) < 1 << 30
        if known and small and (bad := archive.testzip()):
            raise ValueError(f"testzip refuses {bad}")


for argument in sys.argv[1:]:
    print("#", argument)
    try:
        check(argument)
    except Exception as error:
        print("!", repr(error))
