"""Peak memory of a short and a long run, by scripts/growth; and that growth is told where there is some."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(os.environ["CROSSBOW_SOURCE_DIR"])
SCRIPT = ROOT / "scripts/growth"


def load():
    loader = importlib.machinery.SourceFileLoader("growth", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("growth", loader))
    loader.exec_module(module)
    return module


def costs(*values):
    return [{"ns_for_each": value} for value in values]


def main():
    sys.dont_write_bytecode = True
    faults_of = load().faults_of
    # As linear as it may be, and falling.
    assert faults_of(costs(2.0, 1.0, 1.4, 1.49)) == []
    # As the square of what doubles; and slowly, beyond any earlier row.
    assert len(faults_of(costs(1.0, 2.0))) == 1
    assert len(faults_of(costs(1.0, 1.3, 1.69))) == 1
    memory = [{"epochs": 2, "peak_memory_bytes": 100 << 20}, {"epochs": 20, "peak_memory_bytes": 105 << 20}]
    assert faults_of(memory) == []
    memory[1]["peak_memory_bytes"] = 107 << 20
    assert len(faults_of(memory)) == 1
    done = subprocess.run([sys.executable, str(SCRIPT), "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "nonsense" in done.stderr, done
    done = subprocess.run([sys.executable, str(SCRIPT), "epochs"], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
