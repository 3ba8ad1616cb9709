package console

import (
	"strconv"
	"strings"
)

// price is what a million of a unit cost, in USD, and whether that is known.
func (m *modelRow) price(name string) (usd float64, known bool) {
	text, _ := m.Pricing[name].(string)
	each, err := strconv.ParseFloat(text, 64)
	return each * 1e6, err == nil && each >= 0
}

// PriceText is what a million tokens cost, "" if that is not known.
func (m *modelRow) PriceText(name string) string {
	if each, known := m.price(name); known {
		return priceText(each)
	}
	return ""
}

// priceText is a price with as many decimals as it needs, two at least.
func priceText(amount float64) string {
	text := strings.TrimRight(strconv.FormatFloat(amount, 'f', 6, 64), "0")
	whole, decimals, _ := strings.Cut(text, ".")
	return "$" + whole + "." + decimals + strings.Repeat("0", max(0, 2-len(decimals)))
}

// unitPrices are the units besides tokens of text, as the API names them, and as people count them.
var unitPrices = []struct {
	name string
	of   float64
	text string
}{
	{"image_input", 1e6, "a million tokens of images taken"}, {"image_output", 1e6, "a million tokens of images made"}, {"image", 1, "an image"},
	{"character", 1e6, "a million characters"}, {"second", 60, "a minute of audio"}, {"query", 1000, "a thousand searches"},
}

// OtherPrices are what other units cost.
func (m *modelRow) OtherPrices() (all []string) {
	for _, u := range unitPrices {
		if each, err := strconv.ParseFloat(m.Units[u.name], 64); err == nil {
			all = append(all, priceText(each*u.of)+" "+u.text)
		}
	}
	for _, tokens := range []struct{ name, text string }{{"audio", "audio taken"}, {"audio_output", "audio made"}} {
		if each, known := m.price(tokens.name); known {
			all = append(all, priceText(each)+" a million tokens of "+tokens.text)
		}
	}
	return all
}

// Priced reports whether a price is known.
func (m *modelRow) Priced() bool {
	_, in := m.price("prompt")
	_, out := m.price("completion")
	return in || out || len(m.OtherPrices()) > 0
}

// dear orders by price: a model without one comes last.
func (m *modelRow) dear() float64 {
	in, known := m.price("prompt")
	out, also := m.price("completion")
	if !known && !also {
		return 1e12
	}
	return in + out
}
