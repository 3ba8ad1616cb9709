package console

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// functions are those that templates have. Each takes what the API's JSON has.
var functions = template.FuncMap{
	"at": at, "clock": clock, "day": dayOf, "timeOfDay": timeOfDay, "ago": ago, "until": until, "usd": usd, "count": count, "milliseconds": milliseconds, "took": tookText, "ms": inMilliseconds, "meaning": meaningOf,
	"byStep": byStep, "bytes": size, "percent": percent, "marked": marked,
	"query": query, "ordinal": ordinal, "lower": strings.ToLower, "filterText": filterText, "join": strings.Join, "dict": dict,
}

// unknown stands for a figure that is not known; it is never shown as 0.
const unknown = "—"

// at is a time in UTC, to the second, with the exact one behind it.
func at(t time.Time) template.HTML {
	if t.IsZero() {
		return unknown
	}
	return localElement(t, "full", t.UTC().Format("2 Jan 2006 15:04:05")+" UTC")
}

// clock is a time of a list, without year and zone: the heading of its column says UTC.
func clock(t time.Time) template.HTML {
	if t.IsZero() {
		return unknown
	}
	return localElement(t, "clock", t.UTC().Format("2 Jan 15:04:05"))
}

// dayOf is the day of a time in a list, without the year.
func dayOf(t time.Time) template.HTML { return localElement(t, "day", t.UTC().Format("2 Jan")) }

// timeOfDay is a time in a list that has the day before it.
func timeOfDay(t time.Time) template.HTML { return localElement(t, "time", t.UTC().Format("15:04:05")) }

// ago is a past time in words, with the exact one behind it.
func ago(t, now time.Time) template.HTML {
	if t.IsZero() {
		return "never"
	}
	passed := now.Sub(t)
	if passed < 10*time.Second {
		return timeElement(t, "just now")
	}
	return timeElement(t, inWords(passed)+" ago")
}

// until is a future time in words, with the exact one behind it.
func until(t, now time.Time) template.HTML {
	if t.IsZero() {
		return unknown
	}
	if !t.After(now) {
		return timeElement(t, "now")
	}
	return timeElement(t, "in "+inWords(t.Sub(now)))
}

// timeElement is safe HTML: both texts are made of digits and of words of ours.
func timeElement(t time.Time, text string) template.HTML { return localElement(t, "", text) }

// localElement is a time that assets/js/time.js can write in the zone of the browser, in this form.
func localElement(t time.Time, form, text string) template.HTML {
	exact := t.UTC().Format("2006-01-02T15:04:05.000Z")
	if form != "" {
		form = ` data-form="` + form + `"`
	}
	return template.HTML(`<time datetime="` + exact + `" title="` + exact + `"` + form + `>` + text + `</time>`)
}

// inWords is a duration in its largest unit.
func inWords(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := int64((d + unit.of/2) / unit.of); n >= 2 || d >= unit.of {
			return plural(n, unit.name)
		}
	}
	return "less than a second"
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return count(n) + " " + word + "s"
}

// usd is an amount of money: cents from a dollar on, four digits that count below.
func usd(amount float64) string {
	switch size := math.Abs(amount); {
	case amount == 0:
		return "$0.00"
	case size >= 1:
		return dollars(amount, 2)
	case size >= 0.01:
		return "$" + strconv.FormatFloat(amount, 'f', 4, 64)
	}
	return "$" + strings.TrimRight(strconv.FormatFloat(amount, 'f', 9, 64), "0")
}

// dollars is an amount with so many decimals, and its whole dollars in groups of three.
func dollars(amount float64, decimals int) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(amount, 'f', decimals, 64), ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	return "$" + count(n) + "." + fraction
}

// count is a whole number in groups of three.
func count(n int64) string {
	text := strconv.FormatInt(n, 10)
	digits := strings.TrimPrefix(text, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n < 0 {
		return "-" + digits
	}
	return digits
}

// inMilliseconds is a duration as the API has it.
func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// milliseconds is a duration that the API has as a number of them.
func milliseconds(ms float64) string {
	switch {
	case ms > 0 && ms < 0.1:
		return strconv.FormatFloat(ms*1000, 'f', 0, 64) + " µs"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	}
	return inWords(time.Duration(ms) * time.Millisecond)
}

// tookText is a duration that the API has in whole milliseconds.
func tookText(ms float64) string {
	switch {
	case ms < 1:
		return "<1 ms"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return milliseconds(ms)
}

// size is a number of bytes, in units of 1024.
func size(n int64) string {
	units, amount := "KMGT", float64(n)
	if n < 1024 {
		return plural(n, "byte")
	}
	for amount /= 1024; amount >= 1024 && len(units) > 1; amount /= 1024 {
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %ciB", amount, units[0])
}

// percent is a part of a whole.
func percent(part, whole float64) string {
	if whole == 0 {
		return unknown
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}

// query is the URL of this page with parameters changed: names and values in turn. An empty value
// takes the parameter out. Cursors are taken out too: they belong to the old list.
func query(path string, changes ...any) (string, error) {
	u, err := url.Parse(path)
	if err != nil || len(changes)%2 != 0 {
		return "", fmt.Errorf("query: %d changes of %q: %w", len(changes), path, err)
	}
	values := u.Query()
	values.Del("cursor")
	values.Del("done")
	for i := 0; i < len(changes); i += 2 {
		name, value := fmt.Sprint(changes[i]), fmt.Sprint(changes[i+1])
		if values.Del(name); value != "" {
			values.Set(name, value)
		}
	}
	u.RawQuery = values.Encode()
	return u.String(), nil
}

// ordinal is the number of a row for people, who begin with 1.
func ordinal(i int) int { return i + 1 }

// dict makes what a part of a template is given from names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d names and values", len(pairs))
	}
	made := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		made[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return made, nil
}
