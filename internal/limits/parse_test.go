package limits_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestRatesAreRead(t *testing.T) {
	for text, want := range map[string]limits.Rate{
		"60/min":              {Unit: limits.Requests, Limit: 60, Window: time.Minute},
		"10/s":                {Unit: limits.Requests, Limit: 10, Window: time.Second},
		"1k/h":                {Unit: limits.Requests, Limit: 1000, Window: time.Hour},
		"7 requests/day":      {Unit: limits.Requests, Limit: 7, Window: limits.Day},
		"100000 tokens/min":   {Unit: limits.Tokens, Limit: 100_000, Window: time.Minute},
		"2M tokens/day":       {Unit: limits.Tokens, Limit: 2_000_000, Window: limits.Day},
		"9223372036854775k/s": {Unit: limits.Requests, Limit: 9_223_372_036_854_775_000, Window: time.Second},
	} {
		if got, err := limits.ParseRate(strings.Split(text, " ")...); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestWrongRatesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "not a number",
		"60":                                    "one of s, min, h, day",
		"60/":                                   "one of s, min, h, day",
		"60/minute":                             "one of s, min, h, day",
		"60/min ":                               "one of s, min, h, day",
		"60/week":                               "one of s, min, h, day",
		"/min":                                  "not a number",
		"0/min":                                 "more than 0",
		"0M/min":                                "more than 0",
		"-1/min":                                "not a number",
		"+1/min":                                "not a number",
		"1.5M/min":                              "not a number",
		"1_000/min":                             "not a number",
		"1K/min":                                "not a number",
		"60 /min":                               "want COUNT/WINDOW",
		"60 token/min":                          "want COUNT/WINDOW",
		"tokens 60/min":                         "want COUNT/WINDOW",
		"10usd/day":                             "not a number",
		"9223372036854775808/s":                 "too large",
		"9223372036854776k/s":                   "too large",
		"1" + strings.Repeat("0", 100) + "/min": "more than 64 characters",
	} {
		if got, err := limits.ParseRate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestBudgetsAreRead(t *testing.T) {
	for text, want := range map[string]limits.Budget{
		"10usd/day":                   {Unit: limits.Money, Limit: 10_000_000_000, Period: limits.Daily},
		"0.50usd/week":                {Unit: limits.Money, Limit: 500_000_000, Period: limits.Weekly},
		"0.000000001usd/month":        {Unit: limits.Money, Limit: 1, Period: limits.Monthly},
		"100usd/total soft":           {Unit: limits.Money, Limit: 100_000_000_000, Period: limits.Total, Soft: true},
		"5000000 tokens/month":        {Unit: limits.Tokens, Limit: 5_000_000, Period: limits.Monthly},
		"5M tokens/day soft":          {Unit: limits.Tokens, Limit: 5_000_000, Period: limits.Daily, Soft: true},
		"9223372036.854775807usd/day": {Unit: limits.Money, Limit: math.MaxInt64, Period: limits.Daily},
	} {
		if got, err := limits.ParseBudget(strings.Split(text, " ")...); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestWrongBudgetsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "AMOUNTusd/PERIOD",
		"10/day":                        "AMOUNTusd/PERIOD",
		"10eur/day":                     "AMOUNTusd/PERIOD",
		"$10/day":                       "AMOUNTusd/PERIOD",
		"5000tokens/day":                "AMOUNTusd/PERIOD",
		"10usd":                         "one of day, week, month, total",
		"10usd/year":                    "one of day, week, month, total",
		"10usd/day hard":                "one of day, week, month, total",
		"10usd/day  soft":               "one of day, week, month, total",
		"10 usd/day":                    "not a number",
		"usd/day":                       "not a number",
		".5usd/day":                     "not a number",
		"5.usd/day":                     "not a number",
		"-5usd/day":                     "not a number",
		"1e3usd/day":                    "not a number",
		"1kusd/day":                     "not a number",
		"1,000usd/day":                  "not a number",
		"0usd/day":                      "more than 0",
		"0.000000000usd/day":            "more than 0",
		"0.0000000001usd/day":           "more than 9 decimals",
		"9223372036.854775808usd/day":   "too large",
		"0 tokens/day":                  "more than 0",
		" tokens/day":                   "not a number",
		strings.Repeat("1", 70) + "usd": "more than 64 characters",
	} {
		if got, err := limits.ParseBudget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestConcurrencyIsRead(t *testing.T) {
	for text, want := range map[string]limits.Concurrency{
		"10":               {Limit: 10},
		"1k queue 20 2s":   {Limit: 1000, Queue: 20, Wait: 2 * time.Second},
		"1 queue 1 1m":     {Limit: 1, Queue: 1, Wait: time.Minute},
		"1 queue 1M 100ms": {Limit: 1, Queue: 1_000_000, Wait: 100 * time.Millisecond},
	} {
		if got, err := limits.ParseConcurrency(strings.Split(text, " ")...); got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "not a number", "0": "more than 0", "x": "not a number", "2M": "too large", "10 20 2s": "want LIMIT", "10 queue 20": "want LIMIT",
		"10 wait 20 2s": "want LIMIT", "10 queue 0 2s": "more than 0", "10 queue 1 0s": "the wait", "10 queue 1 61s": "the wait", "10 queue 1 2": "missing unit",
		strings.Repeat("1", 65): "more than 64 characters",
	} {
		if got, err := limits.ParseConcurrency(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestMoneyIsExact(t *testing.T) {
	for nano, want := range map[int64]string{
		0: "0", 1: "0.000000001", 10_000_000_000: "10", 1_230_000_000: "1.23", -1: "-0.000000001",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		if got := limits.FormatMoney(nano); got != want {
			t.Errorf("%d is %q, want %q", nano, got, want)
		}
		if back, err := limits.ParseMoney(want); nano >= 0 && (back != nano || err != nil) {
			t.Errorf("%q is read as %d, %v", want, back, err)
		}
	}
}

// An accepted text has the same meaning after it is formatted and parsed again.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"60/min", "2M tokens/day", "7 requests/h", "10usd/day", "0.5usd/total soft", "5k tokens/month", "10 queue 2 1s", "1", "0/s", "1.usd/day", "9223372036.854775807usd/day",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := limits.ParseRate(text); err == nil {
			if back, err := limits.ParseRate(r.String()); back != r || err != nil {
				t.Errorf("%q is %+v, and %q is %+v, %v", text, r, r, back, err)
			}
			if err := (limits.Subject{Name: "x", Rates: []limits.Rate{r}}).Check(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		if b, err := limits.ParseBudget(text); err == nil {
			if back, err := limits.ParseBudget(b.String()); back != b || err != nil {
				t.Errorf("%q is %+v, and %q is %+v, %v", text, b, b, back, err)
			}
			if err := (limits.Subject{Name: "x", Budgets: []limits.Budget{b}}).Check(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		if c, err := limits.ParseConcurrency(text); err == nil {
			if err := (limits.Subject{Name: "x", Concurrency: c}).Check(); err != nil || c.Limit < 1 {
				t.Errorf("%q is %+v, %v", text, c, err)
			}
		}
		if nano, err := limits.ParseMoney(text); err == nil {
			if back, err := limits.ParseMoney(limits.FormatMoney(nano)); back != nano || err != nil || nano < 0 {
				t.Errorf("%q is %d, and back %d, %v", text, nano, back, err)
			}
		}
	})
}
