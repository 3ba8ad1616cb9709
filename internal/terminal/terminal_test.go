package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const calls = `{"data":[
	{"created_at":"2026-03-18T12:00:00.000Z","request_id":"req_2","tenant":"acme","key":"dev","route":"POST /v1/responses","model":"a/x","status":429,"code":"rate_limit_exceeded",
	 "usage":0,"usage_source":"none","priced":false,"latency_ms":0.3},
	{"created_at":"2026-03-18T11:00:00.000Z","id":"vnc-1","request_id":"vnc-2","tenant":"umbrella","key":"dev","route":"VNC","status":200,"usage_source":"none","latency_ms":3600000,"workstation":"lab1","ended":"viewer_left"},
	{"created_at":"2026-03-17T12:00:00.000Z","request_id":"req_1","tenant":"acme","key":"dev","model":"\u001b[31mevil","status":200,"usage":0.0015,"usage_source":"provider","priced":true,
	 "prompt_tokens":12345,"completion_tokens":22,"latency_ms":1500,"first_token_ms":250},
	{"created_at":"2026-03-17T11:00:00.000Z","request_id":"req_0","tenant":"acme","key":"dev","model":"a/x","status":200,"usage":0,"usage_source":"estimated","priced":false,
	 "prompt_tokens":1,"completion_tokens":2,"latency_ms":90},
	{"created_at":"2026-03-17T10:00:00.000Z","request_id":"req_t","tenant":"acme","key":"dev","model":"demo/echo","provider_name":"demo","status":200,"usage":0.01,
	 "usage_source":"none","priced":true,"method":"tools/call","is_error":true,"request_bytes":321,"answer_bytes":2048,"latency_ms":12},
	{"created_at":"2026-03-17T09:00:00.000Z","request_id":"req_l","tenant":"acme","key":"dev","model":"demo","provider_name":"demo","status":200,"usage":0,
	 "usage_source":"none","priced":true,"method":"tools/list","request_bytes":58,"answer_bytes":900,"latency_ms":2}
	],"next_cursor":"c"}`

func TestCallsAreATable(t *testing.T) {
	var out strings.Builder
	if err := Activity(&out, strings.NewReader(calls)); err != nil {
		t.Fatal(err)
	}
	const want = `
TIME (UTC)           KEY           MODEL            STATUS                      IN     OUT       USD  FIRST    TOOK  REQUEST
2026-03-18 12:00:00  acme/dev      a/x              429 rate_limit_exceeded      -       -         -      -   300us  req_2
2026-03-18 11:00:00  umbrella/dev  desktop lab1     200 viewer_left              -       -         -      -   1h00m  vnc-1
2026-03-17 12:00:00  acme/dev      �[31mevil        200                      12.3k      22  0.001500  250ms   1.50s  req_1
2026-03-17 11:00:00  acme/dev      a/x              200                          1       2   unknown      -  90.0ms  req_0
2026-03-17 10:00:00  acme/dev      demo/echo        200 tool error            321B  2.05kB  0.010000      -  12.0ms  req_t
2026-03-17 09:00:00  acme/dev      demo tools/list  200                        58B    900B         -      -  2.00ms  req_l
There are more: see --limit and --csv.
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got:%s", got)
	}
	out.Reset()
	if err := Activity(&out, strings.NewReader(`{"data":[],"next_cursor":null}`)); err != nil || out.String() != "No calls.\n" {
		t.Errorf("without calls: %q, %v", out.String(), err)
	}
}

const sums = `{"by":"model","step":"day","from":"2026-03-01T00:00:00.000Z","to":"2026-03-05T00:00:00.000Z","complete":false,
	"data":[{"name":"a/x","total":{"requests":1200,"errors":12,"unpriced":0,"cost":1.5,"prompt_tokens":1000000,"completion_tokens":500,
	   "duration_ms":{"count":1,"p50":900,"p95":2500,"p99":3000},"overhead_ms":{"count":1,"p50":0.2,"p95":0.41,"p99":1}},
	  "points":[{"at":"2026-03-01T00:00:00.000Z","requests":600,"cost":0.5},{"at":"2026-03-04T00:00:00.000Z","requests":600,"cost":1}]},
	 {"name":"","total":{"requests":3,"errors":3,"cost":0},"points":[]}],
	"other":{"series":2,"total":{"requests":2,"errors":0,"unpriced":2,"cost":0},"points":[]},
	"total":{"total":{"requests":1205,"errors":15,"unpriced":2,"cost":1.5,"prompt_tokens":1000000,"completion_tokens":500},
	  "points":[{"at":"2026-03-01T00:00:00.000Z","requests":600,"cost":0.5},{"at":"2026-03-04T00:00:00.000Z","requests":605,"cost":1,"unpriced":2}]}}`

func TestSeriesAreTables(t *testing.T) {
	const want = `
By model, 2026-03-01 to 2026-03-04 UTC, each day

MODEL          REQUESTS  ERRORS      USD     IN  OUT    P50    P95  FIRST  PER TOKEN  OVERHEAD
a/x               1.20k    1.0%   1.5000  1.00M  500  900ms  2.50s      -          -     410us
(no provider)         3  100.0%   0.0000      0    0      -      -      -          -         -
(2 others)            2       -  unknown      0    0      -      -      -          -         -
total             1.21k    1.2%  >1.5000  1.00M  500      -      -      -          -         -

Cost in USD
2026-03-01   0.5000
         :
2026-03-04  >1.0000

Calls without a known price, which USD leaves out: 2

Older calls are still being added: these sums are too small.
`
	var out strings.Builder
	if err := Series(&out, strings.NewReader(sums), ""); err != nil {
		t.Fatal(err)
	}
	if got := "\n" + out.String(); got != want {
		t.Errorf("got:%s", got)
	}
	for metric, last := range map[string]string{"cost": ">1.0000", "requests": "605", "errors": "0", "tokens": "0", "p95": "-"} {
		var out strings.Builder
		if err := Series(&out, strings.NewReader(sums), metric); err != nil || !strings.Contains(out.String(), "2026-03-04  "+last+"\n") {
			t.Errorf("%s: %v\n%s", metric, err, out.String())
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.00k", 12345: "12.3k", 999_999: "1.00M", 4_560_000: "4.56M", 5e15: "5000T"} {
		if got := compact(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[float64]string{0: "-", 0.34: "340us", 0.9999: "1.00ms", 12.5: "12.5ms", 1280: "1.28s", 99_949: "99.9s", 245_000: "4m05s", 12_000_000: "3h20m"} {
		if got := Duration(ms); got != want {
			t.Errorf("%v ms are %s, want %s", ms, got, want)
		}
	}
	if got := cell(strings.Repeat("ü", 60)); utf8.RuneCountInString(got) != maxCell {
		t.Errorf("a long name is %s", got)
	}
}

func TestANarrowTerminalHasFewerColumns(t *testing.T) {
	g := func() *grid {
		return &grid{columns: []gridColumn{{name: "NAME"}, {name: "ONE", right: true, drop: 2}, {name: "TWO", drop: 1}}, rows: [][]string{{"abc", "12345", "6"}}}
	}
	for room, want := range map[int]string{
		0:  "NAME    ONE  TWO\nabc   12345  6\n",
		16: "NAME    ONE  TWO\nabc   12345  6\n",
		15: "NAME    ONE\nabc   12345\n",
		4:  "NAME\nabc\n",
		3:  "NAME    ONE  TWO\nabc   12345  6\n", // a line is broken anyway
	} {
		var out strings.Builder
		g().print(&out, room)
		if out.String() != want {
			t.Errorf("%d columns:\n%s", room, out.String())
		}
	}
}

func TestTheHashOfAKeyIsShort(t *testing.T) {
	hash := strings.Repeat("0af9", 16)
	for name, want := range map[string]string{hash: "0af90af90af9", "dev": "dev", hash[1:]: hash[1:], strings.ToUpper(hash): strings.ToUpper(hash)} {
		if got := KeyName(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}
