"""Makes the data that the programs of others read: small, synthetic, in the formats that they expect.

Each function gets the folder with the programs as published, and writes where the program looks, outside of what its
repository tracks or in folders that the repository ignores. The driver removes what was made.
"""
import os
import pickle
import random
import struct
import zlib

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def mnist(folder):
    """The four files of MNIST, for torchvision: 2,048 and 256 pictures of noise around one bright row per digit."""
    raw = os.path.join(folder, "examples", "data", "MNIST", "raw")
    os.makedirs(raw, exist_ok=True)
    for name, count in (("train", 2048), ("t10k", 256)):
        labels = bytes(index % 10 for index in range(count))
        generator = random.Random(count)
        pictures = bytearray(generator.randbytes(count * 784))
        for index, label in enumerate(labels):
            row = index * 784 + 28 * (2 * label + 4)
            pictures[row : row + 28] = b"\xff" * 28
        with open(os.path.join(raw, name + "-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">4i", 2051, count, 28, 28) + pictures)
        with open(os.path.join(raw, name + "-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">2i", 2049, count) + labels)
    return [os.path.join(folder, "examples", "data")]


def words(count, seed=0):
    """Text of made-up words, a line for each ten of them."""
    generator = random.Random(seed)
    known = ["".join(generator.choices(_LETTERS, k=generator.randint(2, 9))) for _ in range(300)]
    return "\n".join(" ".join(generator.choices(known, k=10)) for _ in range(count // 10)) + "\n"


def language_model(folder):
    """Three texts for pytorch/examples/word_language_model."""
    place = os.path.join(folder, "examples", "word_language_model", "data", "small")
    os.makedirs(place, exist_ok=True)
    for name, count in (("train", 12000), ("valid", 1000), ("test", 1000)):
        with open(os.path.join(place, name + ".txt"), "w", encoding="utf-8") as file:
            file.write(words(count, len(name)))
    return [place]


def characters(folder):
    """train.bin, val.bin and meta.pkl for nanoGPT."""
    place = os.path.join(folder, "nanoGPT", "data", "small")
    os.makedirs(place, exist_ok=True)
    text = words(20000)
    letters = sorted(set(text))
    numbers = {letter: number for number, letter in enumerate(letters)}
    for name, part in (("train", text[: len(text) * 9 // 10]), ("val", text[len(text) * 9 // 10 :])):
        with open(os.path.join(place, name + ".bin"), "wb") as file:
            file.write(struct.pack(f"<{len(part)}H", *(numbers[letter] for letter in part)))
    with open(os.path.join(place, "meta.pkl"), "wb") as file:
        pickle.dump({"vocab_size": len(letters), "itos": dict(enumerate(letters)), "stoi": numbers}, file)
    return [place]


def _pictures(place, count, size, seed):
    """PNG files of noise, written by hand: the interpreter that runs this need not have a library for pictures."""
    os.makedirs(place, exist_ok=True)
    generator = random.Random(seed)
    for index in range(count):
        rows = b"".join(b"\0" + generator.randbytes(3 * size) for _ in range(size))
        with open(os.path.join(place, f"{index:04}.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n")
            for kind, content in (
                (b"IHDR", struct.pack(">2I5B", size, size, 8, 2, 0, 0, 0)),
                (b"IDAT", zlib.compress(rows, 1)),
                (b"IEND", b""),
            ):
                file.write(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content)))


def image_folders(folder):
    """Pictures in a folder for each of four classes, for timm's train.py."""
    place = os.path.join(folder, "stepscope-data", "pictures")
    for part, count in (("train", 48), ("validation", 8)):
        for number in range(4):
            _pictures(os.path.join(place, part, f"class{number}"), count, 48, number)
    return [os.path.join(folder, "stepscope-data")]


def super_resolution(folder):
    """pytorch/examples/super_resolution takes BSD300 where it is already there."""
    place = os.path.join(folder, "examples", "super_resolution", "dataset")
    for part, count in (("train", 64), ("test", 8)):
        _pictures(os.path.join(place, "BSDS300", "images", part), count, 300, count)
    return [place]
