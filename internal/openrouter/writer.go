package openrouter

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// writer appends the members of an object one by one. Keys need no escaping.
type writer struct {
	dst []byte
}

func (w *writer) key(key string) {
	if c := w.dst[len(w.dst)-1]; c != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, key...)
	w.dst = append(w.dst, '"', ':')
}

func (w *writer) open(key string) {
	w.key(key)
	w.dst = append(w.dst, '{')
}

func (w *writer) close() { w.dst = append(w.dst, '}') }

func (w *writer) null(key string) {
	w.key(key)
	w.dst = append(w.dst, "null"...)
}

func (w *writer) bool(key string, v bool) {
	w.key(key)
	w.dst = strconv.AppendBool(w.dst, v)
}

func (w *writer) text(key, v string) {
	w.key(key)
	w.dst = jsonscan.AppendString(w.dst, v)
}

func (w *writer) textOrNull(key, v string) {
	if v == "" {
		w.null(key)
		return
	}
	w.text(key, v)
}

func (w *writer) texts(key string, v []string) {
	w.key(key)
	w.dst = append(w.dst, '[')
	for i, s := range v {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = jsonscan.AppendString(w.dst, s)
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) number(key string, v int64) {
	w.key(key)
	w.dst = strconv.AppendInt(w.dst, v, 10)
}

func (w *writer) numberOrNull(key string, v int64) {
	if v == 0 {
		w.null(key)
		return
	}
	w.number(key, v)
}

// nanoPerUSD is the unit of money in the gateway.
const nanoPerUSD = 1_000_000_000

// usd writes nano-USD as a number of USD, exactly and without exponent.
func (w *writer) usd(key string, nano int64) {
	w.key(key)
	w.dst = AppendUSD(w.dst, nano)
}

// AppendUSD appends an amount of nano-USD as a decimal number of USD, such as
// 0.000012; there are no trailing zeros and no exponent.
func AppendUSD(dst []byte, nano int64) []byte {
	abs := uint64(nano)
	if nano < 0 {
		dst = append(dst, '-')
		abs = -abs
	}
	dst = strconv.AppendUint(dst, abs/nanoPerUSD, 10)
	fraction := abs % nanoPerUSD
	if fraction == 0 {
		return dst
	}
	text := strconv.FormatUint(nanoPerUSD+fraction, 10)[1:]
	end := len(text)
	for text[end-1] == '0' {
		end--
	}
	dst = append(dst, '.')
	return append(dst, text[:end]...)
}
