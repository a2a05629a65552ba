"""A session's vectors.bin: docs/vectors.md and docs/format.md#vectors.bin as they are written."""
import array
import copy
import struct

HEADER_BYTES, RECORD_BYTES = 32, 144
HASH_BYTES = 8


class Record:
    def __init__(self, entry_id, values):
        self.id, self.values, self.is_right = entry_id, array.array("f", values), True


class VectorFile:
    """`records` in the order of the file; `tail`: bytes of one that is not whole."""

    def __init__(self):
        self.dimension, self.records, self.tail, self.head_is_right = None, [], b"", True

    def copy(self):
        other = copy.copy(self)
        other.records = [copy.copy(record) for record in self.records]
        return other

    def put(self, entry_id, values):
        self.cut_tail()
        self.dimension = self.dimension or len(values)
        self.records.append(Record(entry_id, values))

    def cut_tail(self):
        self.tail = b""
        while self.records and not self.records[-1].is_right:
            self.records.pop()

    def last(self):
        """By id, the record that counts."""
        return {record.id: record for record in self.records if record.is_right}

    def keep(self, ids):
        """The right records of these, without what was replaced; without any there is no file."""
        last = self.last()
        self.tail = b""
        self.records = [record for record in self.records
                        if record.id in ids and last.get(record.id) is record]
        if not self.records:
            self.__init__()

    def repair(self):
        if not self.head_is_right:
            self.__init__()
        elif self.tail or not all(record.is_right for record in self.records):
            self.keep({record.id for record in self.records})

    # The bytes, apart from hashes.

    def record_bytes(self):
        return RECORD_BYTES + 4 * self.dimension

    def offset(self, number):
        return HEADER_BYTES + number * self.record_bytes()

    def differences(self, data):
        """What a file has other than the model, as texts."""
        if self.dimension is None:
            return [] if data is None else ["there is a file"]
        if data is None:
            return ["there is no file"]
        wrong = []
        header = b"VARVEVEC" + struct.pack("<IIQ", 1, self.dimension, 0)
        if self.head_is_right and data[:24] != header:
            wrong.append(f"header {data[:24]}")
        size = self.offset(len(self.records)) + len(self.tail)
        if len(data) != size:
            return wrong + [f"{len(data)} bytes instead of {size}"]
        for number, record in enumerate(self.records):
            shown = data[self.offset(number) + HASH_BYTES:self.offset(number + 1)]
            if record.is_right and shown != self.written(record):
                wrong.append(f"record {number} is not that of {record.id}")
        return wrong

    @staticmethod
    def written(record):
        id_ = record.id.encode()
        return (bytes([len(id_)]) + bytes(7) + id_.ljust(128, b"\0") +
                struct.pack(f"<{len(record.values)}f", *record.values))
