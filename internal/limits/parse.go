package limits

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The grammar of limits in the Caddyfile:
//
//	rate        = count [ " tokens" | " requests" ] "/" window      requests if neither is given
//	budget      = ( money | count " tokens" ) "/" period [ " soft" ]
//	concurrency = digits [ " queue " digits " " duration ]
//	count       = digits [ "k" | "M" ]                              thousands, millions
//	money       = digits [ "." digits ] "usd"                       at most nine decimals
//	window      = "s" | "min" | "h" | "day"                         sliding
//	period      = "day" | "week" | "month" | "total"                calendar, in UTC
//
// Each value has one spelling, in lower case except for M. One space separates words.

const (
	// maxText bounds the text that is parsed and quoted in errors.
	maxText = 64
	// nanoDigits are the decimals of a nano-USD.
	nanoDigits = 9
	// maxConcurrent bounds the effect of a typing error.
	maxConcurrent = 1_000_000
	// maxQueueWait: a client that waits longer has given up or retries.
	maxQueueWait = time.Minute
)

var windows = []struct {
	name   string
	length time.Duration
}{{"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}, {"day", Day}}

// WindowName returns the spelling of a window.
func WindowName(length time.Duration) string {
	for _, w := range windows {
		if w.length == length {
			return w.name
		}
	}
	return length.String()
}

// ParseWindow reads what WindowName wrote of a window of a Rate.
func ParseWindow(name string) (length time.Duration, ok bool) {
	for _, w := range windows {
		if w.name == name {
			return w.length, true
		}
	}
	return 0, false
}

// String returns the rate in the form that ParseRate reads.
func (r Rate) String() string {
	unit := ""
	if r.Unit != Requests {
		unit = " " + r.Unit.String()
	}
	return strconv.FormatInt(r.Limit, 10) + unit + "/" + WindowName(r.Window)
}

// String returns the budget in the form that ParseBudget reads.
func (b Budget) String() string {
	text := strconv.FormatInt(b.Limit, 10) + " " + b.Unit.String()
	if b.Unit == Money {
		text = FormatMoney(b.Limit) + b.Unit.String()
	}
	text += "/" + b.Period.String()
	if b.Soft {
		text += " soft"
	}
	return text
}

// String returns the limit in the form that ParseConcurrency reads.
func (c Concurrency) String() string {
	text := strconv.Itoa(c.Limit)
	if c.Queue > 0 {
		text += " queue " + strconv.Itoa(c.Queue) + " " + c.Wait.String()
	}
	return text
}

// ParseRate parses a rate: "60/min", "1000/h", "100000 tokens/min", "2M tokens/day".
func ParseRate(words ...string) (Rate, error) {
	text, err := join("rate", words)
	if err != nil {
		return Rate{}, err
	}
	amount, name, _ := strings.Cut(text, "/")
	count, unit, spaced := strings.Cut(amount, " ")
	r := Rate{Unit: Requests}
	switch {
	case unit == "tokens":
		r.Unit = Tokens
	case spaced && unit != "requests":
		return Rate{}, fmt.Errorf("rate %q: want COUNT/WINDOW or COUNT tokens/WINDOW, as in 60/min", text)
	}
	if r.Limit, err = parseCount(count); err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w", text, err)
	}
	var ok bool
	if r.Window, ok = ParseWindow(name); ok {
		return r, nil
	}
	return Rate{}, fmt.Errorf("rate %q: the window is one of s, min, h, day", text)
}

// ParseBudget parses a budget: "10usd/day", "0.50usd/week soft", "5M tokens/month", "100usd/total".
func ParseBudget(words ...string) (Budget, error) {
	text, err := join("budget", words)
	if err != nil {
		return Budget{}, err
	}
	rest, soft := strings.CutSuffix(text, " soft")
	b := Budget{Soft: soft}
	amount, name, _ := strings.Cut(rest, "/")
	if count, ok := strings.CutSuffix(amount, " tokens"); ok {
		b.Unit = Tokens
		b.Limit, err = parseCount(count)
	} else if money, ok := strings.CutSuffix(amount, "usd"); ok {
		b.Unit = Money
		b.Limit, err = ParseMoney(money)
	} else {
		return Budget{}, fmt.Errorf("budget %q: want AMOUNTusd/PERIOD or COUNT tokens/PERIOD, as in 10usd/day", text)
	}
	if err == nil && b.Limit == 0 {
		err = errZero
	}
	if err != nil {
		return Budget{}, fmt.Errorf("budget %q: %w", text, err)
	}
	for p := Daily; p <= Total; p++ {
		if p.String() == name {
			b.Period = p
			return b, nil
		}
	}
	return Budget{}, fmt.Errorf("budget %q: the period is one of day, week, month, total", text)
}

// ParseConcurrency parses a limit of concurrent calls: "10", "10 queue 20 2s".
func ParseConcurrency(words ...string) (Concurrency, error) {
	text, err := join("concurrency", words)
	if err != nil {
		return Concurrency{}, err
	}
	var c Concurrency
	parts := strings.Split(text, " ")
	if len(parts) != 1 && (len(parts) != 4 || parts[1] != "queue") {
		return Concurrency{}, fmt.Errorf("concurrency %q: want LIMIT or LIMIT queue LENGTH WAIT, as in 10 queue 20 2s", text)
	}
	if c.Limit, err = parseSmall(parts[0]); err == nil && len(parts) == 4 {
		if c.Queue, err = parseSmall(parts[2]); err == nil {
			c.Wait, err = time.ParseDuration(parts[3])
		}
		if err == nil && (c.Wait <= 0 || c.Wait > maxQueueWait) {
			err = fmt.Errorf("the wait must be more than 0 and at most %v", maxQueueWait)
		}
	}
	if err != nil {
		return Concurrency{}, fmt.Errorf("concurrency %q: %w", text, err)
	}
	return c, nil
}

var (
	errZero   = errors.New("must be more than 0")
	errNumber = errors.New("not a number")
	errRange  = errors.New("number too large")
)

func join(what string, words []string) (string, error) {
	text := strings.Join(words, " ")
	if len(text) > maxText {
		return "", fmt.Errorf("%s: more than %d characters", what, maxText)
	}
	return text, nil
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func parseSmall(text string) (int, error) {
	n, err := parseCount(text)
	if err == nil && n > maxConcurrent {
		err = errRange
	}
	return int(n), err
}

// parseCount parses a positive number that may end in k or M.
func parseCount(text string) (int64, error) {
	zeros := ""
	if short, ok := strings.CutSuffix(text, "k"); ok {
		text, zeros = short, "000"
	} else if short, ok := strings.CutSuffix(text, "M"); ok {
		text, zeros = short, "000000"
	}
	if !digits(text) {
		return 0, errNumber
	}
	n, err := strconv.ParseInt(text+zeros, 10, 64)
	if err != nil {
		return 0, errRange
	}
	if n == 0 {
		return 0, errZero
	}
	return n, nil
}

// ParseMoney parses a decimal number of USD ("10", "0.000000001") as nano-USD, exactly. More than
// nine decimals, signs, exponents and numbers beyond int64 (9.2e9 USD) are errors.
func ParseMoney(text string) (nano int64, err error) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if !digits(whole) || pointed && !digits(fraction) {
		return 0, errNumber
	}
	if len(fraction) > nanoDigits {
		return 0, fmt.Errorf("more than %d decimals", nanoDigits)
	}
	nano, err = strconv.ParseInt(whole+fraction+strings.Repeat("0", nanoDigits-len(fraction)), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return nano, nil
}

// FormatMoney returns nano-USD as a decimal number of USD without trailing zeros: "10", "0.5",
// "-0.000000001".
func FormatMoney(nano int64) string {
	sign, magnitude := "", uint64(nano)
	if nano < 0 {
		sign, magnitude = "-", -magnitude
	}
	text := fmt.Sprintf("%s%d.%0*d", sign, magnitude/1e9, nanoDigits, magnitude%1e9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
