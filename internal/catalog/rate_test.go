package catalog_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

func TestParseRateIsExact(t *testing.T) {
	for _, tc := range []struct {
		text string
		want catalog.Rate
	}{
		{"0", 0},
		{"0.0", 0},
		{"-0.0", 0},
		{"0e-7", 0},
		{"1.5e-07", 150_000_000},
		{"1.5E-7", 150_000_000},
		{"0.00000015", 150_000_000},
		{"3e-06", 3_000_000_000},
		{"1e-15", 1},
		{"0.000000000000001", 1},
		{"2.8e-9", 2_800_000},
		{"15", 15_000_000_000_000_000},
		{"0.1e1", 1_000_000_000_000_000},
		{"00.5", 500_000_000_000_000},
		{"9223.372036854775807", math.MaxInt64},
		// Floating-point noise, and thirds: rounded to the nearest unit.
		{"0.0000006000000000000001", 600_000_000},
		{"0.00000100000000000000015", 1_000_000_000},
		{"3.0001999999999996e-07", 300_020_000},
		{"0.00000008333333333333334", 83_333_333},
		{"0.0000000000000015", 2},
		// Not free, so not zero.
		{"1e-16", 1},
		{"1e-300", 1},
	} {
		got, err := catalog.ParseRate(tc.text)
		if err != nil || got != tc.want {
			t.Errorf("ParseRate(%q) = %d, %v, want %d", tc.text, int64(got), err, int64(tc.want))
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "not a decimal number"},
		{".", "not a decimal number"},
		{"e5", "not a decimal number"},
		{"1e", "not a decimal number"},
		{"1e5.0", "not a decimal number"},
		{"1.2.3", "not a decimal number"},
		{"+1", "not a decimal number"},
		{"--1", "not a decimal number"},
		{" 1", "not a decimal number"},
		{"1_000", "not a decimal number"},
		{"0x10", "not a decimal number"},
		{"NaN", "not a decimal number"},
		{"Infinity", "not a decimal number"},
		{"$0.15", "not a decimal number"},
		{"-1", "negative"},
		{"-1e-9", "negative"},
		{"9223.372036854775808", "out of range"},
		{"1e4", "out of range"},
		{"1e999999999999999999999", "out of range"},
		{"1e9223372036854775807", "out of range"},
		{"1e-9223372036854775808", "out of range"},
		{strings.Repeat("1", 65), "65 bytes"},
	} {
		got, err := catalog.ParseRate(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("ParseRate(%q) = %d, %v, want an error with %q", tc.text, int64(got), err, tc.want)
		}
	}
}

func TestRateIsWrittenWithoutExponent(t *testing.T) {
	for rate, want := range map[catalog.Rate]string{
		0:                         "0",
		1:                         "0.000000000000001",
		150_000_000:               "0.00000015",
		1_000_000_000:             "0.000001",
		15_000_000_000_000_000:    "15",
		100_000_000_000_000_000:   "100",
		1_500_000_000_000_000_000: "1500",
		math.MaxInt64:             "9223.372036854775807",
	} {
		if got := rate.String(); got != want {
			t.Errorf("Rate(%d) = %q, want %q", int64(rate), got, want)
		}
	}
}

func TestRateIsWrittenPerMillion(t *testing.T) {
	for rate, want := range map[catalog.Rate]string{0: "0", 1: "0.000000001", 150_000_000: "0.15", 15_000_000_000: "15", 100_000_000_000: "100", math.MaxInt64: "9223372036.854775807"} {
		if got := rate.PerMillion(); got != want {
			t.Errorf("Rate(%d) is %q a million, want %q", int64(rate), got, want)
		}
	}
}

// FuzzRate compares ParseRate with rational arithmetic, and String with ParseRate.
func FuzzRate(f *testing.F) {
	for _, seed := range []string{"0", "1.5e-07", "0.00000015", "-1", "1e-16", "9223.372036854775807", "0.0000006000000000000001", ".5", "5.", "1e-15"} {
		f.Add(seed)
	}
	unit := new(big.Rat).SetFrac64(1_000_000_000_000_000, 1)
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := catalog.ParseRate(text)
		if err != nil {
			return
		}
		if back, err := catalog.ParseRate(rate.String()); err != nil || back != rate {
			t.Errorf("%q: %d is written %q, which reads as %d, %v", text, int64(rate), rate, int64(back), err)
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("ParseRate accepted %q, math/big does not", text)
		}
		exact.Mul(exact, unit)
		if exact.Sign() > 0 && rate == 0 {
			t.Errorf("%q became zero", text)
		}
		gap := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(int64(rate)))
		if half := big.NewRat(1, 2); gap.Abs(gap).Cmp(half) > 0 && rate != 1 {
			t.Errorf("%q became %d, off by %s units", text, int64(rate), gap.FloatString(3))
		}
	})
}
