# make run    build Caddy with this plugin and start it with Caddyfile.example
# make build  only build ./caddy, from xcaddy.json
# make dist   a release in ./dist: static programs for Linux, their bills of materials and licences,
#             SHA256SUMS
# make dist-test  makes a release twice, in two folders, and compares; compiles all once more
# make test   everything: checks, tests, build, real SDKs, clients and viewers (see .ci/suites)
# make features  the core built with each feature alone, and started
# make clients  the coding clients and libraries that make test does not run
# make cluster  three gateways as one on this machine, with Redis or Valkey, Sentinels, PostgreSQL and a
#               balancer, to try out
# make cluster-test  several gateways for long: failovers, kills, pauses, clocks, full disks; all
#               SDKs and viewers; an hour, less with KILLS=50
# make browser  the console in Chromium for long: silence, idle sessions, slow readers, a million
#               rows
# make pictures  the pictures of the documentation, from the console with a week of made-up calls
# make bench  load tests, compared with a plain proxy and the provider itself; with PEERS=1, with
#             other gateways instead, which it installs
# make scale  the tables of docs/scale.md: what a call costs at each part, and what a core carries; eight
#               minutes on a machine that does nothing else
# make halfsent   2,000 uploads that stop half-way: memory, and the calls of others
# make soak   all endings of calls and desktops at once, with reloads and a database that fails, for
#             SOAKTIME
# make faults a database of a million rows after a kill, and one that is locked for ten seconds
# make fuzz   every fuzz target for FUZZTIME
# make mutate break N operators and statements of PKG, one at a time, and list what its tests miss
# make fmt    format Go files and Caddyfile.example
# make vuln   known vulnerabilities in what is linked in (asks for a database on the network)
# make licenses  docs/licenses.md from the program; with TEXTS=1, print all licence texts instead
# make clean  remove everything built, but not .gatehouse (key and data)

# The flags of xcaddy, for all builds, so that they share one cache.
# -buildvcs=false also builds a checkout that another user owns.
export GOFLAGS := -trimpath -buildvcs=false -tags=nobadger,nomysql,nopgx
export CGO_ENABLED ?= 0

export GATEWAY_SERVER_HOST ?= 127.0.0.1
export GATEWAY_SERVER_PORT ?= 8080

FUZZTIME ?= 10s
BENCHFLAGS ?=
BENCH_PEERS := .cache/bench-peers
SOAKTIME ?= 10m
SOAKFLAGS ?=
N ?= 100
SEED ?= 1
MUTATEFLAGS ?=
GOVULNCHECK := v1.9.0

.PHONY: build run dist dist-test test features cluster cluster-test clients browser pictures bench scale soak faults halfsent fuzz mutate vuln licenses fmt clean

build:
	cd tests/tools && go run ./mkcaddy -manifest ../../xcaddy.json -o ../../caddy

run: build
	@./.ci/run-example

dist:
	@./.ci/dist

dist-test:
	@./.ci/dist-test

test:
	@./.ci/suites

# Each build takes a quarter of a minute.
features:
	@./.ci/suites features

cluster: build
	go run ./tests/cluster -caddy ./caddy

cluster-test: build
	@KILLS=$(KILLS) ./.ci/suites cluster-long cluster-sdk cluster-viewers

clients: build
	@./.ci/suites more-clients

browser: build
	@./.ci/suites browser-long

pictures: build
	@./.ci/suites pictures

bench: $(if $(PEERS),$(BENCH_PEERS))
	go run ./tests/bench $(if $(PEERS),-peers $(BENCH_PEERS)) $(BENCHFLAGS)

# The gateways that make bench PEERS=1 compares with, at the versions that tests/bench/peers pins.
$(BENCH_PEERS): tests/bench/peers/litellm.txt tests/bench/peers/package-lock.json
	rm -rf $@
	mkdir -p $@/portkey
	python3 -m venv $@/litellm
	$@/litellm/bin/pip install --quiet --no-deps --requirement tests/bench/peers/litellm.txt
	cp tests/bench/peers/package.json tests/bench/peers/package-lock.json $@/portkey/
	cd $@/portkey && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

scale: build
	go run ./tests/bench -caddy ./caddy -time 3s -capacity tests/tools/scale/measured.json
	cd tests/tools && go run ./scale -docs ../../docs/scale.md

# go test has no timeout here: every wait of a call or a pause has its own.
halfsent:
	go test ./tests/operator -run '^TestHalfSent' -count 1 -v -args -halfsent 2000

soak:
	go test ./tests/soak -run '^TestAllEndings|^TestMachines' -count 1 -v -timeout 0 -args -soak $(SOAKTIME) $(SOAKFLAGS)

faults:
	go test ./tests/operator -run '^(TestAKilledGatewayWithManyRows|TestALockedDatabase)' -count 1 -v -args -faults.rows 1000000 -faults.lock 10s

# One target at a time: go test takes only one.
fuzz:
	@set -e; grep -rl --include='*_test.go' '^func Fuzz' internal handlers l4vnc caddymodule 2>/dev/null | sort | \
	while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "== ./$${file%/*} $$target"; \
			go test "./$${file%/*}" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -parallel 1 </dev/null; \
		done; \
	done

mutate:
	cd tests/tools && go build -o ../../.cache/mutate ./mutate
	.cache/mutate -n $(N) -seed $(SEED) $(MUTATEFLAGS) $(PKG)

# Not a part of make test: what it finds changes without a change here.
vuln:
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) ./...

licenses: build
	cd tests/tools && go build -o ../../.cache/licenses ./licenses
	.cache/licenses $(if $(TEXTS),-texts) caddy internal/console/novnc/vendor.json $(if $(TEXTS),,>docs/licenses.md)

fmt: build
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')
	./caddy fmt --overwrite Caddyfile.example

clean:
	rm -rf caddy dist .cache
