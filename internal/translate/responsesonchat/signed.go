package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// readSigned takes elements of reasoning_details, or pieces of them.
func (r *builder) readSigned(details []byte) {
	for span := range jsonscan.AllElements(details) {
		if span.Kind == '{' {
			r.textSize += r.current(reasoning).signed.Take(span.Value(details))
		}
	}
}
