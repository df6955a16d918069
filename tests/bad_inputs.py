"""Bad and hostile inputs of every command, as rows: the words typed, the exit code, a part of what is said.

The words are relative to the folder that `prepared` fills. `@` in a place stands for each value of a table.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recorded_versions import recorded

Row = tuple[list[str], int, str]

PATHS = {
    "": "it is empty",
    " \t": "it is empty",
    "a" * 300: "at most 255",
    "a/" * 2100: "at most 4,095",
    "\udcff": "is not UTF-8",
    "a\0b": "has a NUL",
}
PATH_PLACES = """
run -b numpy-naive -o @|run -b numpy-naive --vectors @|run -b numpy-naive --from @|run --resume @
sweep numpy-naive --operator onnx.QuantizeLinear -o @|sweep --check @|sweep --plan @
audit numpy-naive --operator onnx.QuantizeLinear --versus @|audit --matrix --operator onnx.QuantizeLinear --page @
authorities numpy-naive --run @|authorities numpy-naive --page @
report @|report runs/away -o @|report runs/away --findings @|report runs/away --markdown @|report runs/away --junit @
repro C001 --run @|compare @ runs/away|compare runs/away @|compare runs/away runs/sound --html @
gate @|gate runs/away --baseline @|gate runs/away --waivers @|gate runs/away --junit @
gate runs/away --sarif @|gate @ -b numpy-naive
history @|site @ -o new|site runs -o @
tables @ -o new|tables runs/away -o @|coverage --run @|operators --pages @|operators --pages new --run @
findings @ -o new|findings runs/away -o @
verify @ --backend-name x|verify runs --backend-name x -o @|new-backend mine -o @
vectors build @|vectors check @|vectors export @ --format json|vectors minimal --operator onnx.QuantizeLinear -o @
pattern run relu -b onnxruntime -o @|pattern export relu -o @
prove per-axis -o @|prove --check @
submit @ -o new|submit runs/away -o @|submit runs/away -o new --certificate @|submit check @
history show @|history runs --html @|history add @ --db new|history add runs/away --db @|history missing --db @
"""
TEXTS = {"": "it is empty", "\t ": "it is empty", "\udcff": "is not UTF-8", "a\0b": "has a NUL", "x" * 140_000: "bytes"}
TEXT_PLACES = """
gate -b @|gate -b numpy-naive --operator @|gate -b numpy-naive --case @
run -b @|run --operator @|run --case @|run --scheduler @|run --attr @|run --input @
sweep @ --operator onnx.QuantizeLinear|sweep numpy-naive --operator @|audit @ --operator onnx.QuantizeLinear
authorities @|authorities numpy-naive --operator @|authorities numpy-naive --attr @
audit numpy-naive --operator @|repro @ --run runs/away|repro C001 --run runs/away -b @|operators @|backends -b @
verify runs --backend-name @|verify runs --backend-name x --backend-version @|new-backend @
vectors export new --format json --operator @|vectors export new --format json --case @|vectors minimal --operator @
pattern run @|pattern run relu -b @|pattern run relu --type @|pattern export @|pattern export relu --scale @
site runs -o new --address @
prove @|prove relu --type @|prove relu --zero-points @|prove relu --let @|prove relu --given @
history runs -b @|history runs --operator @|history missing --db new -b @
"""
RECORDS = (
    "runs/away/run.json",
    "runs/away/results.parquet",
    "runs/../runs/away/discrepancies.parquet",
    "{place}/runs/away/cases.parquet",
    "runs/away/outputs.parquet",
    "link.json",
    "linked/results.parquet",
    "broken-off/unfinished/plan.json",
    "broken-off/unfinished/new.html",
)
FILE_OUTPUTS = """
report runs/away -o @|report runs/away --findings @|report runs/away --markdown @|report runs/away --junit @
report runs/away -o new.html --junit @|compare runs/sound runs/away --html @|gate runs/away --junit @
gate runs/away --sarif @
sweep numpy-naive --operator onnx.QuantizeLinear --input y_scale=1 -o @
sweep numpy-naive --operator onnx.QuantizeLinear --every-scale --significands 1 -o @
pattern export relu -o @
prove per-axis -o @
audit --matrix --operator onnx.QuantizeLinear --page @|authorities numpy-naive --page @
submit runs/away -o @|history runs --html @|history add runs/away --db @
"""
NO_FILES = {"folder": "it is a folder", "fifo": "no plain file", "null": "no plain file", "no/x": "no folder no"}
FOLDER_OUTPUTS = """
gate @ -b numpy-naive
run -b numpy-naive -o @|tables runs/away -o @|operators --pages @|vectors build @|vectors export @ --format json
verify runs --backend-name x -o @|new-backend mine -o @|sweep --plan plan.toml -o @
pattern run relu -b onnxruntime -o @|site runs -o @
"""
NO_FOLDERS = {"file": "is no folder", "file/new": "is no folder", "fifo": "no folder", "null": "no folder"}
NO_FOLDERS |= {"broken-off/unfinished": "a record of the run", "broken-off/unfinished/x": "a record of the run"}

ONNX = "--operator onnx.QuantizeLinear"
OTHERS = f"""
run -b nosuch|2|`tiebreak backends` lists all
run -b onnxruntme|2|did you mean onnxruntime
run --operator onnx.QuantizeLinea|2|did you mean onnx.QuantizeLinear
run -b no.such.module:x|2|no module 'no.such.module'
run -b json.nothing:x|2|no module 'json.nothing'
run -b ..x:y|2|no module '..x'
run -b file.py:x|2|no file file.py
run -b versions.py:absent|2|no 'absent' there
run -b exec:|2|name the program
run -b exec:./nothing|2|no program './nothing'
run -b exec:./file|2|not executable
run -b exec:./folder|2|is a folder
run -b exec:'|2|No closing quotation
run -b names.py:none_name|2|its name is None
run -b names.py:seven_name|2|backend 'names.py:seven_name': its name is 7
run -b names.py:empty_name|2|its name is ''
run -b names.py:blank_name|2|its name is ' '
run -b names.py:none_version|2|its version is None
run -b names.py:seven_version|2|its version is 7
run -b names.py:empty_version|2|its version is ''
run -b names.py:none_name --in-process|2|backend 'names.py:none_name': its name is None
run -b syntax.py:x|3|(at syntax.py:2)
run -b imports.py:x|3|No module named 'no_such_module'
run -b numpy-naive --opset 0|2|0' is no opset; there are 10 to 28
run -b numpy-naive --opset -1|2|is no opset
run -b numpy-naive --opset 1e3|2|is no opset
run -b numpy-naive --opset {"9" * 5000}|2|is no opset
run -b numpy-naive {ONNX} --level quick --opset 12|2|--opset 12 is none of 10, 13, 19, 21, 23, 24, 25
run -b numpy-naive {ONNX} --level quick --type bfloat16|2|--type bfloat16 is none of
run -b numpy-naive {ONNX} --level quick --attr axis=77|2|axis 77 is none of -3, -2
run -b numpy-naive --operator ngraph.Quantize --level quick --opset 13|2|only ONNX's operators have one
run -b numpy-naive {ONNX} --level quick --opset 10 --type int16|2|--opset 10 is none of 21
run -b numpy-naive --seed {"9" * 30}|2|--seed
run -b numpy-naive --seed abc|2|'--seed': 'abc' is no whole number from -9223372036854775808 to 9223372036854775807
run -b numpy-naive --operator onnx.Cast --input-type float32 --type int8|2|, which go with --type int8
sweep numpy-naive --operator onnx.Cast --input-type float32 --type int8|2|float32 to int8 is no cast of its tables; one
run -b numpy-naive --timeout nan|2|nan is no number of seconds
run -b numpy-naive --timeout 1e999|2|--timeout
run -b numpy-naive --memory 1|2|--memory
run -b numpy-naive --memory {"9" * 5000}|2|--memory
run -b numpy-naive --attr axis|2|not NAME=VALUE
run -b numpy-naive --attr =1|2|not NAME=VALUE
run -b numpy-naive --attr axis=1 --attr axis=2|2|given twice
run -b numpy-naive {ONNX} --attr axis={"[" * 90_000}|2|is not an integer
run -b numpy-naive {ONNX} --input x=1|2|no value for y_scale
run -b numpy-naive {ONNX} --input x=1 --input y_scale={"9" * 90_000}|2|--input y_scale
run -b numpy-naive {ONNX} --input x={"[" * 90_000} --input y_scale=1|2|--input x
run -b numpy-naive --scheduler-workers 2|2|--scheduler local
run -b numpy-naive --from folder|2|no run here
run -b numpy-naive --vectors fifo|2|no plain file
run -b numpy-naive --vectors deep.json|2|not JSON
run -b numpy-naive --vectors huge-number.json|2|not JSON
run -b numpy-naive --vectors /dev/zero|2|no plain file
run -b numpy-naive --vectors loop|2|loop
run -b numpy-naive --vectors folder|2|no vector files
run -b numpy-naive {ONNX} -o broken-off|2|tiebreak run --resume broken-off; to begin anew add --discard
run -b numpy-naive -o folder|2|not empty: it has 'something' and no earlier run; name a new or empty
run -b numpy-naive -o other-program|2|has 'run.json' and no earlier run
gate folder -b numpy-naive|2|has 'something' and no earlier run
verify exported --backend-name x -o folder|2|has 'something' and no earlier run
sweep --plan sweeps.toml -o folder|2|has 'something' and no earlier sweeps
pattern run relu -b onnxruntime -o folder|2|has 'something' and no earlier pattern run
tables runs/away -o folder|2|has 'something' and no earlier tables
operators --pages folder|2|has 'something' and no earlier pages
vectors build folder|2|has 'something' and no earlier vector files
findings runs/away -o folder|2|has 'something'; name a new or empty folder
run --resume folder|2|no run there
run --resume runs/away|2|the run there is finished
run --resume broken-off --discard|2|it takes no --discard
run --resume broken-off|2|plan.json: damaged
verify exported --backend-name x -o broken-off|2|tiebreak run --resume broken-off
sweep|2|name a backend
pattern list relu|2|unexpected extra argument
pattern run addd|2|no pattern 'addd'; known: relu
pattern run relu -b nosuch|2|runs no patterns; these do: onnxruntime
pattern run relu --level whole|2|'whole' is not one of
pattern export relu --scale s1=0|2|a scale is positive and finite
prove|2|name a claim, as in
prove |2|it is empty: name a claim, such as 'Q(DQ(x, s), s) = x', or a rule of tiebreak prove --list
prove relu|2|no rule 'relu'; did you mean relu-q?
prove Q(x)=|2|lacks a side
prove Q(x)=DQ(x)|2|the left side is of uint8, the right side of float32
prove x=x|2|at least one operation
prove Q(x)=Q(y)|2|an operand can't be called y
prove Q(x)=Sin(x)|2|no operation 'Sin'
prove Q(x)=MaxPool(Q(x))=x|2|is no claim
prove Q(DQ(x))=x --type int32|2|more codes than can be tried
prove Q(DQ(x))=x --zero-points 256|2|are none of all, lowest
prove Q(DQ(x))=x --let x=int8|2|--let and --given are for claims about integers
prove 1+1=2|2|a claim about integers has at least one name
prove Concat(Q(a,s),Q(b,s))=Concat(Q(a,s),b)|2|the left side is of uint8, the right side of float32
prove v+w=v --let v=int8|2|w has no range
prove v+0=v --let v=8..1|2|a range is LOW..HIGH
prove v+0=v --let v=int8 --given v|2|v is no condition
prove v<<v=v --let v=int8|2|shifts by -128 to 127
prove per-axis --float float16|2|per-axis is a rule with types and scales of its own
prove per-axis --whole|2|--whole goes with --check
prove --check file|2|damaged
prove --check nosuch.json|2|nosuch.json
prove --check certificate.json --type uint8|2|--check takes no other choice
prove --list --float float16|2|--list takes no other choice
sweep numpy-naive --operator onnx.QLinearConv|2|no value for x_scale, x_zero_point, w,
sweep numpy-naive {ONNX}|2|give one, as in --input y_scale=0.1
sweep numpy-naive {ONNX} --input y_scale=1,2|2|one number for y_scale
sweep numpy-naive {ONNX} --input y_scale=1 --input y_zero_point=[1,2]|2|one number for y_zero_point
sweep numpy-naive {ONNX} --input y_scale=|2|y_scale: '' is not a number
sweep numpy-naive {ONNX} --input y_scale=1 --opset 0|2|is no opset
sweep numpy-naive {ONNX} --input y_scale=1 --resume -o no.json|2|nothing to go on with
sweep numpy-naive {ONNX} --every-scale --input y_scale=1|2|leave --input y_scale off
sweep numpy-naive {ONNX} --every-scale --input x=1|2|leave --input x off
sweep numpy-naive {ONNX} --every-scale --input y_zero_point=300|2|outside uint8
sweep numpy-naive {ONNX} --every-scale --input y_zero_point=[1,2]|2|y_zero_point
sweep numpy-naive {ONNX} --every-scale --attr axis=1|2|leave --attr axis off
sweep numpy-naive {ONNX} --every-scale --modes all|2|leave --modes off
sweep numpy-naive {ONNX} --every-scale --input-type float16|2|takes every scale by itself
sweep numpy-naive {ONNX} --every-scale --type uint4 --input y_zero_point=0|2|results of 8 or 16 bits
sweep numpy-naive {ONNX} --every-scale --type float8_e5m2 --input y_zero_point=0|2|rounded half to even
sweep numpy-naive {ONNX} --every-scale --significands 0|2|0 is not in the range
sweep numpy-naive {ONNX} --every-scale --resume -o no.json|2|nothing to go on with
sweep numpy-naive {ONNX} --significands 5|2|goes with --every-scale
sweep numpy-naive --operator onnx.Cast --every-scale|2|no scale
sweep --plan plan.toml --every-scale|2|--plan says what is swept
sweep --check file|2|damaged
sweep --check deep.json|2|damaged
sweep --check huge-number.json|2|damaged
sweep --check fifo|2|no plain file
sweep --check folder|2|can't read
sweep --check runs/away/run.json|2|damaged
sweep --plan deep.toml|2|deep.toml
sweep --plan fifo|2|no plain file
sweep --plan runs/away/results.parquet|2|not UTF-8
audit numpy-naive --operator onnx.QLinearMatMul --input-type int16|2|input type 'int16' is not one of uint8, int8
audit numpy-naive {ONNX} --opset 0|2|is no opset
audit numpy-naive {ONNX} --opset 29|2|is no opset
audit {ONNX}|2|name a backend
audit numpy-naive {ONNX} --page x.md|2|--matrix
audit numpy-naive {ONNX} --attr axis=x|2|is not an integer
audit tensorflow --operator tensorflow.UniformDequantize --type float32|2|is not one of int8
audit numpy-naive {ONNX} --versus folder|2|no run here
authorities numpy-naive --run folder|2|no run here
authorities mine --run runs/away|2|no backend 'mine' in this run
authorities numpy-naive --operator tensorflow.QuantizeV2|2|authorities knows onnx.QuantizeLinear
authorities numpy-naive --type float8_e4m3fn|2|integer outputs
authorities numpy-naive --opset 0|2|is no opset
authorities numpy-naive --attr axis=x|2|is not an integer
report folder|2|no run here
report file|2|no run here
report fifo-run|2|no run here
report runs/away -o -|2|- is no file
repro D999999 --run runs/away|2|no discrepancy 'D999999'; it has D000001
repro C999 --run runs/away|2|no cluster 'C999'; it has C001
repro C001 --run runs/away|2|name it yourself
repro C001 --run runs/away -b numpy-naive|2|the discrepancy is of dev 2.0, run as
compare runs/away|2|RUN_B
compare runs/away folder|2|no run here
gate runs/away --accept|2|--accept goes with --update
gate runs/away --update|2|--update needs --baseline
gate|2|name the folder of a run, or a backend to run first
gate runs/away --level full|2|--level: goes with -b
gate runs/away --operator onnx.QuantizeLinear --discard|2|--discard, --operator: goes with -b
gate runs/away -b numpy-naive --baseline runs/../runs/away|2|would replace the baseline
gate new -b numpy-naive --baseline folder|2|no run here
gate new -b numpy-naive --baseline nosuch|2|no baseline here
gate new -b nosuch|2|unknown backend 'nosuch'
gate broken-off -b numpy-naive {ONNX}|2|to begin anew add --discard
gate runs/away --junit new.xml --sarif ./new.xml|2|--junit and --sarif name the same file
gate runs/away --waivers file --sarif file|2|--waivers and --sarif name the same file
gate runs/away --sarif runs/away/run.json|2|a record of the run
gate runs/away --waivers deep.toml|2|deep.toml
gate runs/away --waivers fifo|2|no plain file
gate runs/away --waivers file|2|not TOML
gate runs/away --waivers runs/away/results.parquet|2|not UTF-8
gate runs/away --baseline folder|2|no run here
submit|2|Missing argument 'RUN_DIR'
submit runs/away -o new|2|run it again with this Tiebreak
submit folder -o new|2|no run here
submit pack runs/away|2|Missing option '-o'
submit check file|2|no submission
submit check folder|2|can't read
submit check fifo|2|no plain file
submit check nosuch|2|can't read
submit check runs/away/results.parquet|2|no submission
submit check file --sample -1|2|--sample
history|2|Missing argument 'FOLDER_OR_FILE'
history show file|2|no history
history add --db new|2|Missing argument
history add folder --db new|2|no run here
history add runs/away --db file|2|no history
history missing --db new -b numpy-naive|2|'numpy-naive' has no releases to install
history runs -b nosuch|2|no backend 'nosuch' in it
history folder|2|no run folder in it
history file|2|file
history runs/away|2|is a run itself
site folder -o new|2|no run folder in it
site file -o new|2|file
site runs/away -o new|2|is a run itself
site runs|2|Missing option
site runs -o runs|2|the runs are in it
site runs -o .|2|the runs are in it
site runs -o runs/away|2|no site of results: it has
site runs -o bad-vectors|2|no site of results: it has
site runs -o new --address example.org|2|allowed is an address such as
site runs -o new --address ftp://example.org|2|allowed is an address such as
site runs -o new --address http://[|2|allowed is an address such as
site runs -o new --address https://example.org/"onload|2|allowed is an address such as
tables runs/away|2|Missing option
tables runs/away -o runs/sound|2|holds a run
tables runs/away -o runs/away --format parquet|2|holds a run
tables runs/away -o new --format {"x" * 5000}|2|--format
verify folder --backend-name x|2|no exported cases here
verify fifo-export --backend-name x|2|no plain file
verify deep-export --backend-name x|2|damaged manifest
verify number-export --backend-name x|2|damaged manifest
verify case-export --backend-name x|2|damaged manifest
coverage --cases 0|2|--cases
coverage nosuch|2|Got unexpected extra argument (nosuch). Usage:
coverage --run folder|2|no run here
operators nosuch|2|unknown operator 'nosuch'
operators ngraph.Quantize --pages new|2|takes no names
operators --run runs/away|2|--run goes with --pages
operators --pages new --run folder|2|no run here
backends -b nosuch|2|unknown backend 'nosuch'
backends -b onnx-backend:|2|name a module, as in onnx-backend:onnxruntime.backend
backends -b onnx-backend:../x|2|name a module
backends -b exec:./nothing|2|no program
backends install onnxruntime@|2|onnxruntime@: NAME@VERSION is wanted, such as onnxruntime@1.20.1, or NAME for the
backends install onnxruntime==|2|onnxruntime==: NAME@VERSION is wanted
backends install @1.0|2|@1.0: NAME@VERSION is wanted
backends install nosuch|2|unknown backend 'nosuch'; `tiebreak backends` lists all
history missing --db new -b onnxruntim|2|did you mean onnxruntime or onnxruntime-qdq
audit numpy-naive --operator QLinearMul|2|did you mean com.microsoft.QLinearMul?
backends install numpy-naive|2|'numpy-naive' has no releases to install
backends install onnxruntime==x|2|is not a release, such as
backends install onnxruntime==../x|2|is not a release, such as
backends install ngraph==1.0|2|ngraph has no release 1.0 here, only 0.26.0
backends install onnxruntime@x|2|is not a release, such as
backends install ngraph@1.0|2|ngraph has no release 1.0 here, only 0.26.0
backends uninstall nosuch|2|'nosuch' is no environment
backends uninstall ../x@1|2|is no environment
bisect numpy-naive --good 1.0 --bad 2.0|2|'numpy-naive' has no releases to install
bisect onnxruntime --good 1.0|2|Missing option '--bad'
bisect onnxruntime --good 1.0 --bad 2.0|2|name one case: --case ID
bisect onnxruntime --good 1.0 --bad 2.0 --case nosuch|2|no case 'nosuch'
backends list nosuch|2|unexpected extra argument
backends verify nosuch@1|2|no environment 'nosuch@1'
backends -b onnxruntime@|2|unknown backend 'onnxruntime@'
run -b onnxruntime@x -o new|2|name a release after the @
run -b onnxruntime@0.0.1 -o new|3|onnxruntime 0.0.1 is not installed
audit onnxruntime@0.0.1 --operator onnx.QuantizeLinear|3|tiebreak backends install onnxruntime==0.0.1
doctor now|2|unexpected extra argument
new-backend |2|it is empty: name your backend, as in: tiebreak new-backend my-npu
new-backend 1|2|is no name for a backend
new-backend ../x|2|is no name for a backend
new-backend class|2|is a word that
new-backend numpy|2|is the name of a Python module
new-backend mine --way x|2|--way
vectors check folder|2|no vector files
vectors check file|2|no vector files
vectors check bad-vectors|2|damaged vector file
vectors export folder --format json|2|has 'something'; name a new or empty folder
vectors export new --format x|2|--format
vectors export new --format json {ONNX} --case nope|2|no case 'nope'
vectors export new --format json {ONNX} --opset 0|2|is no opset
vectors export new --format json {ONNX} --type bfloat16|2|--type bfloat16 is none of
nosuch|2|No such command
--nosuch|2|--nosuch
"""

Change = Callable[[dict[str, Any]], object]
EDITED: dict[str, tuple[Change, str]] = {
    "no-level": (lambda info: info.pop("level"), "no 'level'"),
    "level": (lambda info: info.update(level=7), "level is not text"),
    "no-exit": (lambda info: info.pop("exit"), "no 'exit'"),
    "seed": (lambda info: info.update(seed="x"), "seed is not a whole number"),
    "backends": (lambda info: info.update(backends=None), "backends is not a list"),
    "backend": (lambda info: info["backends"].insert(0, 7), "backends[0] is not an object"),
    "no-backend": (lambda info: info["backends"].clear(), "unknown backend 'dev'"),
    "version": (lambda info: info["backends"][0].update(version=None), "backends[0].version is not text"),
    "judged": (lambda info: info["backends"][0].update(judged={"o": {"x": 1}}), "counts by exponent"),
    "clusters": (lambda info: info.update(clusters={}), "clusters is not a list"),
    "no-cause": (lambda info: info["clusters"][0].pop("cause"), "clusters[0] has no 'cause'"),
    "no-witness": (lambda info: info["clusters"][0].pop("witness"), "clusters[0] has no 'witness'"),
    "witness": (lambda info: info["clusters"][0]["witness"].pop("got"), "clusters[0].witness has no 'got'"),
    "operands": (lambda info: info["clusters"][0]["witness"].update(operands=[["x"]]), "not name, bits and decimal"),
    "observed": (lambda info: info["observed"].append({}), "has no 'backend'"),
    "paths": (lambda info: info.update(paths=[{}]), "paths[0] has no 'backend'"),
}
READERS = """
report @ -o new.html|compare runs/sound @|gate @|tables @ -o new|operators --pages new --run @|repro C001 --run @
findings @ -o new|submit @ -o new
"""
DAMAGED = {
    "not-json": ("run.json", b"{", "not JSON"),
    "not-utf8": ("run.json", b"\xff\xfe", "not UTF-8"),
    "deep": ("run.json", b"[" * 100_000, "not JSON"),
    "number": ("run.json", b'{"a": ' + b"9" * 6000 + b"}", "not JSON"),
    "list": ("run.json", b"[]", "tiebreak-run"),
    "results": ("results.parquet", b"PAR1", "results.parquet: damaged"),
    "discrepancies": ("discrepancies.parquet", b"", "discrepancies.parquet: damaged"),
}


def each(places: str) -> Iterator[list[str]]:
    return (place.split() for place in places.strip().replace("\n", "|").split("|"))


def rows() -> Iterator[Row]:
    """Every row; `{place}` in a word is the prepared folder."""
    for values, places in ((PATHS, PATH_PLACES), (TEXTS, TEXT_PLACES), (NO_FILES, FILE_OUTPUTS)):
        yield from filled(values, places)
    yield from filled(dict.fromkeys(RECORDS, "a record of the run in"), FILE_OUTPUTS)
    yield from filled(NO_FOLDERS, FOLDER_OUTPUTS)
    edited = {f"edited/{name}": message for name, (_, message) in EDITED.items()}
    damaged = {f"damaged/{name}": message for name, (_, _, message) in DAMAGED.items()}
    yield from filled(edited | damaged, READERS)
    for line in OTHERS.strip().splitlines():
        words, code, message = line.split("|")
        yield words.split(" "), int(code), message


def filled(values: dict[str, str], places: str) -> Iterator[Row]:
    for words in each(places):
        yield from (([value if word == "@" else word for word in words], 2, said) for value, said in values.items())


SWEEPS = """[[sweep]]
backends = "numpy-naive"
operator = "onnx.QuantizeLinear"
inputs = { y_scale = 1, y_zero_point = 0 }
"""
NAMES = """
class Backend:
    def __init__(self, name, version):
        self.name, self.version = name, version
    def compile(self, node):
        raise NotImplementedError

none_name, seven_name, empty_name, blank_name = (Backend(name, "1") for name in (None, 7, "", " "))
none_version, seven_version, empty_version = (Backend("x", version) for version in (None, 7, ""))
"""


def prepared(place: Path) -> Path:
    """Fill a folder with runs, sound and damaged ones, and with everything else that the rows name."""
    (place / "runs").mkdir()
    recorded(place / "runs")
    shutil.copy(place / "runs" / "versions.py", place)
    texts = {"file": "x", "names.py": NAMES, "syntax.py": "\nx = (\n", "imports.py": "import no_such_module\n"}
    texts |= {"deep.json": "[" * 100_000, "deep.toml": "a = " + "[" * 100_000, "plan.toml": "[[sweep]]\n"}
    texts["huge-number.json"] = '{"a": ' + "9" * 6000 + "}"
    for name, text in texts.items():
        (place / name).write_text(text)
    for folder in ("folder", "bad-vectors", "fifo-run", "fifo-export", "deep-export", "number-export", "case-export"):
        (place / folder).mkdir()
    (place / "folder" / "something").write_text("x")
    (place / "bad-vectors" / "a.json").write_text("{}")
    (place / "other-program").mkdir()
    (place / "other-program" / "run.json").write_text('{"format": "another"}')
    (place / "sweeps.toml").write_text(SWEEPS)
    for name in ("fifo", "fifo-run/run.json", "fifo-export/manifest.json"):
        os.mkfifo(place / name)
    (place / "loop").symlink_to("loop")
    (place / "null").symlink_to("/dev/null")  # a link is what a test may lose
    (place / "link.json").symlink_to("runs/away/run.json")
    (place / "linked").symlink_to("runs/away")
    exported(place)
    damaged_runs(place)
    broken_off(place)
    return place


def exported(place: Path) -> None:
    manifest = {"format": "tiebreak-export", "version": 1, "cases": []}
    (place / "deep-export" / "manifest.json").write_text("[" * 100_000)
    (place / "number-export" / "manifest.json").write_text('{"format": ' + "9" * 6000 + "}")
    (place / "case-export" / "manifest.json").write_text(json.dumps(manifest | {"cases": [{"number": None}]}))
    (place / "exported" / "outputs").mkdir(parents=True)
    (place / "exported" / "outputs" / "000001.txt").write_text("can't")
    (place / "exported" / "manifest.json").write_text(json.dumps(manifest | {"cases": []}))


def damaged_runs(place: Path) -> None:
    whole = json.loads((place / "runs" / "away" / "run.json").read_text())
    for name, (change, _) in EDITED.items():
        info = copy.deepcopy(whole)
        change(info)
        shutil.copytree(place / "runs" / "away", place / "edited" / name)
        (place / "edited" / name / "run.json").write_text(json.dumps(info))
    for name, (file, content, _) in DAMAGED.items():
        shutil.copytree(place / "runs" / "away", place / "damaged" / name)
        (place / "damaged" / name / file).write_bytes(content)


def broken_off(place: Path) -> None:
    """A run folder with what a killed run leaves: its plan, which is damaged, and outcomes."""
    from tiebreak.conformance.running.journal import FOLDER, Journal

    unfinished = place / "broken-off" / FOLDER
    unfinished.mkdir(parents=True)
    (unfinished / "plan.json").write_text("{")
    journal = Journal(unfinished / "0.frames")
    journal.write(b'{"name": "n", "tensors": []}\n')
    journal.write(b'{"case": "a", "status": "ok", "tensors": []}\n')
