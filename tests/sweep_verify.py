"""What `apply --verify` makes of right and wrong fixes: `python tests/sweep_verify.py [REPETITIONS]`.

About ten minutes for each repetition. The right ones are the examples of all rules, each run by its own proof; the
wrong ones stand in `wrong_fixes.py`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import cases
from world import CHECKOUT, Result, process, write
from wrong_fixes import WRONG, attempted

VERDICT = re.compile(r"^(proved|warning-gone|not-reproduced|numbers-differ|refuted|could-not-run): .*$", re.M)


def right_fixes() -> Iterator[tuple[str, list[str], dict[str, bytes]]]:
    """Code, options and files of the examples that have a proof."""
    for case in cases():
        proof = case.path.with_name("proof.py")
        if case.name == "example" and case.kind == "before" and case.python and proof.is_file():
            target, strategy = case.options.get("target", ""), case.options.get("strategy")
            options = [f"--target={each.replace('==', '=')}" for each in target.split(",") if each]
            options += [f"--strategy={case.rule.code}={strategy}"] if strategy else []
            program = b"import case, proof\n\nproof.run(case)\n"
            files = {"case.py": case.path.read_bytes(), "proof.py": proof.read_bytes(), "train.py": program}
            yield case.rule.code, options, files


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(CHECKOUT)}

    def right(code: str, options: list[str], files: dict[str, bytes]) -> Result:
        with tempfile.TemporaryDirectory() as place:
            root = write(Path(place), files)
            words = ("apply", "--select", code, "--unsafe-fixes", "--isolated", *options, "case.py")
            return process(*words, "--verify", f'"{sys.executable}" train.py', at=root, environment=environment)

    def wrong(number: int) -> Result:
        with tempfile.TemporaryDirectory() as place:
            return attempted(WRONG[number], Path(place))

    tally: Counter[str] = Counter()
    with ThreadPoolExecutor(2) as pool:
        tasks = []
        for _ in range(repetitions):
            tasks += [(f"right {code}", pool.submit(right, code, *more)) for code, *more in right_fixes()]
            tasks += [(f"wrong {each.name}", pool.submit(wrong, number)) for number, each in enumerate(WRONG)]
        for name, task in tasks:
            answer = task.result()
            said = VERDICT.search(answer.err)
            refused = answer.code != 0
            tally[f"{name.split()[0]} fixes {'refused' if refused else 'applied'}"] += 1
            print(f"{name}: exit code {answer.code}, {said[0] if said else answer.err.strip()[-200:]}", flush=True)
    print(dict(tally))


if __name__ == "__main__":
    main()
