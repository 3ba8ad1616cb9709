package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// cite takes a citation. Those without a URL refer to what the request brought.
func (r *reader) cite(b *block, object []byte) {
	url, title := []byte(nil), []byte(`""`)
	each(object, func(key, value []byte) {
		switch {
		case value[0] != '"':
		case string(key) == "url":
			url = value
		case string(key) == "title":
			title = value
		}
	})
	if _, ok := translate.Unquoted(url); ok {
		b.cites = append(b.cites, [2][]byte{bytes.Clone(url), bytes.Clone(title)})
		r.parts++
		r.held += len(url) + len(title)
	}
}
