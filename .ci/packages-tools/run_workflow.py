"""Runs the commands of a job of a GitHub workflow: run_workflow.py WORKFLOW JOB DIRECTORY

Steps that use actions are left out: what they install must be there.
"""

import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

workflow, job, directory = sys.argv[1:]
steps = YAML(typ="safe").load(Path(workflow))["jobs"][job]["steps"]
commands = [step["run"] for step in steps if "run" in step]
assert commands, f"{job} has no command"
for command in commands:
    print(f"$ {command}", flush=True)
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=directory, check=True)
