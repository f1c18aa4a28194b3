#!/usr/bin/env bash
# scripts/get_data against a mirror of our own: what is whole is taken, what is broken off goes
# on, what is wrong or not there is named with status 3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() { echo "FAILED: $*"; exit 1; }

folder=$(mktemp -d)
server=
finish() { [[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$folder"; }
trap finish EXIT
mkdir -p "$folder/mirror"

# A file server that knows ranges, which python's own does not; it prints its port.
cat >"$folder/serve.py" <<'END'
import functools, http.server, pathlib, re, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = pathlib.Path(sys.argv[1], self.path.lstrip("/"))
        if not path.is_file():
            return self.send_error(404)
        data = path.read_bytes()
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(wanted.group(1)) if wanted else 0
        if wanted and begin >= len(data):
            return self.send_error(416)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin:])

    def log_message(self, *_):
        print(self.headers.get("Range", "whole"), file=sys.stderr, flush=True)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$folder/serve.py" "$folder/mirror" >"$folder/port" 2>"$folder/requests" &
server=$!
for _ in $(seq 100); do [[ -s $folder/port ]] && break; sleep 0.1; done
mirror=http://127.0.0.1:$(<"$folder/port")

get() { status=0; answer=$(scripts/get_data mnist --mirror "$1" --into "$folder/data" 2>&1) || status=$?; }

get "$mirror"
[[ $status -eq 3 && $answer == *"could not be fetched (Not Found"* ]] || die "missing: $status $answer"
get http://127.0.0.1:1
[[ $status -eq 3 && $answer == *"Try again where there is a network"* ]] || die "offline: $status $answer"
echo wrong | gzip >"$folder/mirror/train-images-idx3-ubyte.gz"
get "$mirror"
[[ $status -eq 3 && $answer == *"is not the file it should be"* ]] || die "wrong: $status $answer"
[[ -z $(ls "$folder/data") ]] || die "a wrong file was kept"

# CIFAR-10 is one archive, checked as it is.
status=0
answer=$(scripts/get_data cifar10 --mirror http://127.0.0.1:1 --into "$folder/c" 2>&1) || status=$?
[[ $status -eq 3 && $answer == *"cifar-10-binary.tar.gz could not be fetched"* &&
  $(wc -l <<<"$answer") -eq 1 ]] || die "cifar10 offline: $status $answer"
echo wrong >"$folder/mirror/cifar-10-binary.tar.gz"
answer=$(scripts/get_data cifar10 --mirror "$mirror" --into "$folder/c" 2>&1) || status=$?
wrong=$(sha256sum "$folder/mirror/cifar-10-binary.tar.gz" | cut -d' ' -f1)
[[ $status -eq 3 && $answer == *"is not the file it should be (sha256 $wrong"* ]] ||
  die "cifar10 wrong: $status $answer"
[[ -z $(ls "$folder/c") ]] || die "a wrong archive was kept"

# With the real files at hand: a transfer that broke off goes on.
real=../shared/data/mnist
if [[ -d $real ]]; then
  cp "$real"/*.gz "$folder/mirror/"
  head -c 100000 "$real/train-images-idx3-ubyte.gz" >"$folder/data/train-images-idx3-ubyte.gz.part"
  get "$mirror"
  [[ $status -eq 0 ]] || die "real files: $status $answer"
  grep -q 'bytes=100000-' "$folder/requests" || die "it did not go on where it stopped"
  cmp "$real/train-images-idx3-ubyte.gz" "$folder/data/train-images-idx3-ubyte.gz"
  get "$mirror"
  [[ $answer == *"already there"* ]] || die "it fetched again: $answer"
  echo "good, with the real files"
else
  echo "good, without the real files"
fi
