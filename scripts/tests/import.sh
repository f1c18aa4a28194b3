#!/usr/bin/env bash
# Imports as a user meets them: a folder of images with a bad one in it, archives, and the look
# into what was written.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT

# Two classes of grey PNG files, 0 and 255 everywhere; one is cut.
python3 - "$folder/set" <<'PYTHON'
import pathlib, struct, sys, zlib

def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

def png(value):
    rows = (b"\0" + bytes([value] * 4)) * 4
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

for name, raw in {"black/1.png": png(0), "black/2.png": png(0), "white/1.png": png(255),
                  "white/2.png": png(255), "white/3.png": png(9)[:50]}.items():
    path = pathlib.Path(sys.argv[1], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
PYTHON
expect 3 import image-folder "$folder/set" "$folder/x.h5"
says "1 fault:"
says "white/3.png"
says "--on-error skip"
[[ ! -e $folder/x.h5 ]] || die "a data set was written in spite of a fault"
expect 0 import image-folder "$folder/set" "$folder/x.h5" --on-error skip
says "4 images of 4x4x1, 2 classes, mean 0.500000, std 0.500000"
says "left out for 1 fault"
says "white/3.png"

expect 0 inspect "$folder/x.h5" --png "$folder/x.png"
says "storage: pixels, 64 bytes"
says "0  black"
says "1  white"
[[ $(head -c 8 "$folder/x.png" | od -An -tx1) == " 89 50 4e 47 0d 0a 1a 0a" ]] || die "no PNG"

# An archive is the same as its folder, and a deck may name it.
rm "$folder/set/white/3.png"
tar -czf "$folder/set.tar.gz" -C "$folder" set
expect 0 import image-folder "$folder/set.tar.gz" "$folder/y.h5"
says "4 images of 4x4x1, 2 classes, mean 0.500000, std 0.500000"
expect 0 check inputs/smoke_digits.toml data.train="$folder/set.tar.gz" \
  data.test="$folder/set" training.batch=2
says "4 images of 4x4x1, 2 classes"
# Photographs, a few of CIFAR-10 where it is, stay JPEG; the deck for large images trains on them.
photographs=../shared/data/cifar10/cifar10-jpeg.tar.gz
if [[ -f $photographs ]]; then
  mkdir "$folder/photographs"
  tar -xzf "$photographs" -C "$folder/photographs" --wildcards '*/cat/000*.jpg' '*/dog/000*.jpg'
  for split in train test; do
    expect 0 import image-folder "$folder/photographs" "$folder/$split.h5" --split $split
    says "20 images of 32x32x3, 2 classes"
  done
  expect 0 run inputs/resnet50_imagenet.toml data.train="$folder/train.h5" \
    data.test="$folder/test.h5" data.augment.resize=36 data.augment.crop=32 training.batch=2 \
    training.epochs=2 run.output="$folder/run" devices.domain=machine learners.threads=1
  says "2 epochs"
  expect 0 predict "$folder/run/checkpoints/best.h5" "$folder"/photographs/test/cat/000*.jpg --top 2
  [[ $answer == *cat*dog* || $answer == *dog*cat* ]] || die "no names of classes: $answer"
else
  echo "left out: no photographs at $photographs"
fi

expect 2 import image-folder "$folder/set" "$folder/x.h5" --on-error ignore
expect 2 import jpeg "$folder/set" "$folder/x.h5"
says "image-folder"
echo good
