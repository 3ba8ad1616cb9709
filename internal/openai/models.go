package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Model is one model of GET /v1/models.
type Model struct {
	ID            string // "<provider>/<name>"
	Created       int64  // unix seconds
	OwnedBy       string
	ContextLength int64 // tokens; 0 is unknown and left out. OpenAI does not have it.
}

// AppendModel appends the answer of GET /v1/models/{id}, which is also an item of the list.
func AppendModel(dst []byte, m Model) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"object":"model","created":`...)
	dst = strconv.AppendInt(dst, m.Created, 10)
	dst = append(dst, `,"owned_by":`...)
	dst = jsonscan.AppendString(dst, m.OwnedBy)
	if m.ContextLength > 0 {
		dst = append(dst, `,"context_length":`...)
		dst = strconv.AppendInt(dst, m.ContextLength, 10)
	}
	return append(dst, '}')
}

// AppendModelList appends the answer of GET /v1/models. It has no pages: no OpenAI SDK asks for
// any.
func AppendModelList(dst []byte, models []Model) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}
	return append(dst, `]}`...)
}
