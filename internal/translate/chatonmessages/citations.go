package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// cite takes a citation. Those without a URL refer to what the request brought.
func (r *reader) cite(b *block, object []byte) {
	var url, title []byte
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

// annotation returns the citation of a URL as chat has it. It covers the block that cites.
func annotation(url, title []byte, from, to int64) []byte {
	if title == nil {
		title = []byte(`""`)
	}
	a := []byte(`{"type":"url_citation","url_citation":{`)
	a = translate.AppendMember(a, "url", url)
	a = translate.AppendMember(a, "title", title)
	a = translate.AppendIntMember(a, "start_index", from)
	a = translate.AppendIntMember(a, "end_index", to)
	return append(a, "}}"...)
}
