package console

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAmountsOfMoney(t *testing.T) {
	for amount, want := range map[float64]string{
		0: "$0.00", 0.000000001: "$0.000000001", 0.00123: "$0.00123", 0.01: "$0.0100", 0.25: "$0.2500", 1: "$1.00", 1234.567: "$1,234.57", 1e6: "$1,000,000.00",
	} {
		if got := usd(amount); got != want {
			t.Errorf("%v: %s, want %s", amount, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for ms, want := range map[float64]string{0: "0.0 ms", 0.02: "20 µs", 0.25: "0.2 ms", 12: "12 ms", 999: "999 ms", 1500: "1.50 s", 90_000: "2 minutes", 3_600_000: "1 hour"} {
		if got := milliseconds(ms); got != want {
			t.Errorf("%v: %s, want %s", ms, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1,023 bytes", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 1 << 50: "1024.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestShares(t *testing.T) {
	if got := percent(1, 3); got != "33.3 %" {
		t.Error(got)
	}
	if got := percent(1, 0); got != unknown {
		t.Errorf("a part of nothing is %s", got)
	}
}

func TestTimesAreInWordsWithTheExactOneBehind(t *testing.T) {
	now := time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)
	for passed, want := range map[time.Duration]string{
		2 * time.Second: "just now", 45 * time.Second: "45 seconds ago", time.Minute: "1 minute ago", 5 * time.Hour: "5 hours ago", 48 * time.Hour: "2 days ago",
	} {
		got := string(ago(now.Add(-passed), now))
		if !strings.Contains(got, ">"+want+"<") || !strings.Contains(got, `datetime="2026-03-1`) {
			t.Errorf("%v: %s", passed, got)
		}
	}
	if got := string(at(now.In(time.FixedZone("", 3600)))); !strings.Contains(got, ">18 Mar 2026 12:00:00 UTC<") {
		t.Error(got)
	}
	if got := string(until(now.Add(90*time.Minute), now)); !strings.Contains(got, ">in 2 hours<") {
		t.Error(got)
	}
	if at(time.Time{}) != unknown || ago(time.Time{}, now) != "never" || until(time.Time{}, now) != unknown {
		t.Error("a time that is not known")
	}
}

func TestALinkChangesParametersOfThePage(t *testing.T) {
	got, err := query("/console/activity?model=a%2Fb&cursor=x&done=y&key=dev", "key", "", "code", "no such")
	if want := "/console/activity?code=no+such&model=a%2Fb"; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := query("/console/", "key"); err == nil {
		t.Error("a name without a value")
	}
}

func TestTimesOfLists(t *testing.T) {
	at := time.Date(2026, 11, 23, 1, 2, 3, 456e6, time.FixedZone("", 3600))
	const want = `<time datetime="2026-11-23T00:02:03.456Z" title="2026-11-23T00:02:03.456Z" data-form="clock">23 Nov 00:02:03</time>`
	if got := clock(at); got != want {
		t.Errorf("%s", got)
	}
	if clock(time.Time{}) != unknown {
		t.Error("no time is a time")
	}
}

func TestLatencies(t *testing.T) {
	for ms, want := range map[float64]string{0: "<1 ms", 3: "3 ms", 40: "40 ms", 1500: "1.50 s"} {
		if got := tookText(ms); got != want {
			t.Errorf("%v: %s, want %s", ms, got, want)
		}
	}
}

func TestAColumnOfAmountsIsAligned(t *testing.T) {
	for amount, want := range map[float64]string{0: "$0.00", 1e-9: "<$0.000001", 0.00029125: "$0.000291", 0.25: "$0.250000", 12.5: "$12.50"} {
		if got := microUSD(amount); got != want {
			t.Errorf("%v: %s, want %s", amount, got, want)
		}
	}
}

func TestEachDayIsSaidOnce(t *testing.T) {
	row := func(at string) string { return `{"id":"gen-` + at + `","created_at":"` + at + `"}` }
	page := withRows("", row("2026-11-23T01:00:00Z"), row("2026-11-23T00:00:00Z"), row("2026-11-22T23:59:59Z"), row("2026-11-22T01:00:00Z")).
		visit(t, "/console/activity").Body.String()
	var said []string
	for _, found := range regexp.MustCompile(`<span class="day"( hidden)?><time [^>]*data-form="day">([^<]*)</time>`).FindAllStringSubmatch(page, -1) {
		said = append(said, found[2]+found[1])
	}
	if want := []string{"23 Nov", "23 Nov hidden", "22 Nov", "22 Nov hidden"}; !slices.Equal(said, want) {
		t.Errorf("days %q, want %q", said, want)
	}
}
