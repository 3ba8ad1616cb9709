package testprovider

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxExampleLength bounds minLength: the filler of a longer string helps nobody.
const maxExampleLength = 1024

// stringFormats are examples of the formats that JSON Schema names.
var stringFormats = map[string]string{
	"date":      "2026-01-01",
	"date-time": "2026-01-01T00:00:00Z",
	"duration":  "P1D",
	"email":     "user@example.com",
	"hostname":  "example.com",
	"ipv4":      "192.0.2.1",
	"ipv6":      "2001:db8::1",
	"time":      "00:00:00Z",
	"uri":       "https://example.com/",
	"url":       "https://example.com/",
	"uuid":      "00000000-0000-4000-8000-000000000000",
}

func exampleString(s map[string]any) (string, error) {
	format, _ := s["format"].(string)
	if text, ok := stringFormats[format]; ok {
		return text, nil
	}
	text := "example"
	if least, ok := number(s["minLength"]); ok && least > float64(len(text)) {
		if least > maxExampleLength {
			return "", errors.New("minLength is too large")
		}
		text += strings.Repeat("x", int(math.Ceil(least))-len(text))
	}
	if most, ok := number(s["maxLength"]); ok && most < float64(len(text)) {
		text = text[:max(0, int(most))]
	}
	return text, nil
}

// exampleNumber tries the natural values first and the ends of the range next.
func exampleNumber(s map[string]any, integer bool) (string, error) {
	low, high := math.Inf(-1), math.Inf(1)
	if v, ok := number(s["minimum"]); ok {
		low = v
	}
	if v, ok := number(s["maximum"]); ok {
		high = v
	}
	aboveLow, belowHigh := s["exclusiveMinimum"] == true, s["exclusiveMaximum"] == true // draft 4
	if v, ok := number(s["exclusiveMinimum"]); ok && v >= low {
		low, aboveLow = v, true
	}
	if v, ok := number(s["exclusiveMaximum"]); ok && v <= high {
		high, belowHigh = v, true
	}
	step, stepped := number(s["multipleOf"])
	stepped = stepped && step > 0

	candidates := []float64{1, 0, low, math.Ceil(low), math.Floor(low) + 1, high, math.Floor(high), math.Ceil(high) - 1, low/2 + high/2}
	if stepped {
		candidates = append(candidates, step, math.Ceil(low/step)*step, (math.Floor(low/step)+1)*step,
			math.Floor(high/step)*step, (math.Ceil(high/step)-1)*step)
	}
	for _, v := range candidates {
		switch {
		case math.IsInf(v, 0) || math.IsNaN(v):
		case v < low || v > high || aboveLow && v == low || belowHigh && v == high:
		case integer && v != math.Trunc(v):
		case stepped && math.Abs(v/step-math.Round(v/step)) > 1e-9:
		default:
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		}
	}
	return "", errors.New("no number is in range")
}

// number reads a numeric keyword.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
