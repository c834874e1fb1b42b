#!/bin/sh
# Includes point one way: base <- backend <- {data, net} <- scm <- infer, and result beside infer on
# scm (the two meet only in posterior.h). cli, examples and python see only lscm.h and headers of
# their own folder. Some system headers belong to one file or one family of files.
set -eu
cd "$(dirname "$0")/.."

found=$(find include src cli examples python -name '*.[ch]' -o -name '*.cu' 2>/dev/null) || true
# shellcheck disable=SC2086 # our file names have no spaces
grep -nE '^[[:space:]]*#[[:space:]]*include' $found /dev/null | awk '
BEGIN {
    may["base"] = " base "
    may["backend"] = " base backend "
    may["data"] = " base backend data "
    may["net"] = " base backend net "
    may["scm"] = " base backend data net scm "
    may["infer"] = " base backend data net scm infer "
    may["result"] = " base backend data net scm result "

    home["netcdf.h"] = home["hdf5.h"] = "^src/data/netcdf"
    home["zip.h"] = "^src/data/(npz|byte|zip)"
    home["png.h"] = "^src/data/png"
    home["mpi.h"] = "^src/backend/comm[.]c$"
    home["cuda.h"] = home["cuda_runtime.h"] = home["cublas_v2.h"] = "^src/backend/cuda[.]cu$"
    home["libsmartcols.h"] = home["libsmartcols/libsmartcols.h"] = home["argp.h"] = "^cli/"
}
function wrong(why) {
    print file ":" line ": " text ": " why
    bad = 1
}
{
    file = $0; sub(/:.*/, "", file)
    line = $0; sub(/^[^:]*:/, "", line); sub(/:.*/, "", line)
    text = $0; sub(/^[^:]*:[^:]*:[[:space:]]*/, "", text)
    name = text; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*/, "", name)
    ours = text ~ /"/

    if ((name in home) && file !~ home[name])
        wrong(name " is for " home[name] " only")
    if (!ours || name == "lscm.h")
        next
    split(file, part, "/")
    if (part[1] == "include") {
        wrong("lscm.h stands alone")
    } else if (part[1] == "src") {
        folder = name; sub(/\/.*/, "", folder)
        if (name !~ /\//)
            wrong("write the folder too, as in \"base/status.h\"")
        else if (name ~ /^(infer|result)\/posterior[.]h$/ && part[2] ~ /^(infer|result)$/)
            next
        else if (!(part[2] in may))
            wrong("the folder src/" part[2] " is not in the list of tests/check_includes.sh")
        else if (index(may[part[2]], " " folder " ") == 0)
            wrong("src/" part[2] " may include only" may[part[2]])
    } else if (name ~ /\//) {
        wrong(part[1] " sees only lscm.h and its own headers")
    }
}
END { exit bad }' || {
    echo "includes point the wrong way" >&2
    exit 1
}
