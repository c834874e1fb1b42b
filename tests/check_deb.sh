#!/bin/sh
# Installs Debian packages on a bare Debian of this machine's release, uses program and Python module there, and
# removes them again. Needs root and debootstrap. Argument: the folder that holds the packages.
set -eu
debs=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bare=$work/bare
LC_ALL=C
export LC_ALL

# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# The mirror that this machine uses.
# shellcheck disable=SC2016 # the format is apt's
mirror=$(apt-get indextargets --format '$(RELEASE)|$(COMPONENT)|$(REPO_URI)' | sed -n "s/^$release|main|//p" | head -n 1)
debootstrap --variant=minbase "$release" "$bare" ${mirror:+"$mirror"}

inside() {
    chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

cp "$debs"/*.deb "$bare/root/"
inside apt-get -q update
inside sh -c 'apt-get -q -y install --no-install-recommends /root/*.deb'
inside lscm --version
inside sh -eu -c '
    cd /root
    lscm simulate --preset revised-linear --nodes 4 --sets 12 --seed 1 --out data.nc
    lscm fit data.nc
    test -s data.run/report.html
    python3 -c "
import lscm
data = lscm.simulate(\"revised-linear\", nodes=4, sets=12, seed=1)
print(lscm.LatentSCM(draws=200).fit(data.x, data.targets, data.values).summary())"
    test -e /usr/share/man/man1/lscm-fit.1.gz
    test -e /usr/share/bash-completion/completions/lscm'
# Nothing is left of them in the end.
inside apt-get -q -y purge lscm liblscm0.2 liblscm-dev python3-lscm
left=$(find "$bare/usr" -path '*lscm*')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
