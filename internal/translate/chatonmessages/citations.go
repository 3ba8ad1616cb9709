package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// cite takes a citation. Those without a URL refer to what the request brought.
func (r *reader) cite(b *block, object []byte) {
	o := openai.OpenObject(object, nil)
	if url, title := o.Text("url"), o.Kind('"', "title", `""`); url != nil {
		b.cites = append(b.cites, [2][]byte{bytes.Clone(url), bytes.Clone(title)})
		r.parts++
		r.held += len(url) + len(title)
	}
}
