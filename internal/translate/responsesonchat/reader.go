package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

// reader reads a provider's chunks, or its whole completion, and gives their content to a builder.
type reader struct {
	*builder
	chunks chunks.Reader
}

func newReader(b *builder) reader {
	opt := chunks.Options{Stream: b.events.on, Logprobs: b.original.logprobs, Answer: "a response"}
	if b.original.signed {
		opt.Details = b.readSigned
	}
	return reader{b, chunks.NewReader(b.call, b, opt)}
}

// read takes a chunk, or a whole completion.
func (r *reader) read(chunk *openai.Chunk) *apierror.Error {
	if !chunk.Repeats {
		if r.created == 0 {
			r.created = chunk.Created
		}
		if tier := chunk.ServiceTier; tier != nil && len(tier) <= translate.MaxTier {
			r.tier = append(r.tier[:0], tier...)
		}
		r.begin()
	}
	if bad := r.chunks.Read(chunk); bad != nil {
		return bad
	}
	return r.checkSize()
}
