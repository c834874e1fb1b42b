#!/bin/sh
# Includes point one way, and through doors: tests/rooms.txt says which room may see which, and of
# another room with a door only the header of its own name is seen, by tests and benchmarks too. cli,
# examples and python see only lscm.h and headers of their own. Some system headers belong to one
# file or one family of files. What runs on a device asks the device: nothing but the devices
# themselves names one.
set -eu
cd "$(dirname "$0")/.."

found=$(find include src cli examples python tests bench -name '*.[ch]' -o -name '*.cu' 2>/dev/null) || true
# shellcheck disable=SC2086 # our file names have no spaces
grep -nE '^[[:space:]]*#[[:space:]]*include' $found /dev/null | awk '
BEGIN {
    home["netcdf.h"] = "^src/data/netcdf/"
    home["hdf5.h"] = "^src/data/(netcdf/|h5ad/h5ad_file)"
    home["zip.h"] = "^src/data/npy/(npz|byte|zip)"
    home["zlib.h"] = "^src/data/text/text_file[.]c$"
    home["png.h"] = "^src/data/picture/png"
    home["jpeglib.h"] = home["jerror.h"] = "^src/data/picture/jpeg"
    home["mpi.h"] = "^src/backend/comm[.]c$"
    home["cuda_runtime.h"] = home["cublasLt.h"] = home["cusolverDn.h"] = "^src/cuda/"
    home["libsmartcols.h"] = home["libsmartcols/libsmartcols.h"] = home["argp.h"] = "^cli/"
    while ((getline row < "tests/rooms.txt") > 0) {
        if (row ~ /^#/)
            continue
        room = row; sub(/:.*/, "", room)
        sees = row; sub(/^[^:]*:/, "", sees)
        n = split(sees, below, " ")
        for (k = 1; k <= n; k++)
            if (!(below[k] in may)) {
                print "tests/rooms.txt: " room " sees " below[k] ", which does not stand above it"
                bad = 1
            }
        may[room] = " " room sees " "
    }
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

    if ((name in home) && !ours && file !~ home[name] && file !~ /^(tests|bench)\//)
        wrong(name " is for " home[name] " only")
    if (!ours || name == "lscm.h" || file ":" name == "src/cuda/cuda.h:cuda_on_host.h")
        next
    top = file; sub(/\/.*/, "", top)
    from = file; sub(/^src\//, "", from); sub(/\/[^\/]*$/, "", from)
    to = name
    inside = sub(/\/[^\/]*$/, "", to)
    if (top == "include") {
        wrong("lscm.h stands alone")
    } else if (top == "examples" || top == "python") {
        if (inside)
            wrong(top " sees only lscm.h and its own headers")
    } else if (!inside) {
        if (top == "src" || top == "cli")
            wrong("write the folder too, as in \"base/status.h\"")
    } else {
        if (top == "cli")
            to = "cli/" to
        door = to; sub(/^.*\//, "", door)
        if (top != "tests" && top != "bench" && !(from in may))
            wrong("the folder " from " is not in tests/rooms.txt")
        else if (top != "tests" && top != "bench" && index(may[from], " " to " ") == 0)
            wrong(from " may see only" may[from])
        else if (to ~ /^(data|scm|infer|result)\// && from != to && name != to "/" door ".h")
            wrong("of " to " only its door is seen, \"" to "/" door ".h\"")
    }
}
END { exit bad }' || {
    echo "includes point the wrong way" >&2
    exit 1
}
sh tests/draw_rooms.sh | cmp -s - docs/rooms.dot || {
    echo "docs/rooms.dot is not what the includes say: ./dev map draws it anew" >&2
    exit 1
}
# shellcheck disable=SC2086
if grep -nE 'backend/(cpu|cuda)[.]|\b(cpu|cuda)_(open|f32|f64)\b' $found /dev/null | grep -v '^src/backend/'; then
    echo "a device is named outside src/backend; device_open hands one out" >&2
    exit 1
fi
# shellcheck disable=SC2086
if grep -nE '\brng\b[^;]*\{[^}]*, [0-9]' $(echo "$found" | tr ' ' '\n' | grep '^src/'); then
    echo "a random stream by number: base/streams.h has one for each use" >&2
    exit 1
fi
