package anthropic

import (
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Model is one model of GET /v1/models.
type Model struct {
	ID            string // "<provider>/<name>"
	DisplayName   string
	Created       int64 // unix seconds; 0 is shown as 1970, as Anthropic does for what it does not know
	ContextLength int64 // tokens; 0 is unknown and left out
	MaxOutput     int64 // tokens; 0 is unknown and left out
}

// AppendModel appends the answer of GET /v1/models/{id}, which is also an item of the list.
func AppendModel(dst []byte, m Model) []byte {
	dst = openai.AppendText(append(dst, `{"type":"model"`...), "id", m.ID)
	dst = openai.AppendText(dst, "display_name", m.DisplayName)
	dst = openai.AppendText(dst, "created_at", time.Unix(m.Created, 0).UTC().Format(time.RFC3339))
	if m.ContextLength > 0 {
		dst = openai.AppendInt(dst, "max_input_tokens", m.ContextLength)
	}
	if m.MaxOutput > 0 {
		dst = openai.AppendInt(dst, "max_tokens", m.MaxOutput)
	}
	return append(dst, '}')
}

// AppendModelList appends one page of GET /v1/models. More says that models follow this page.
func AppendModelList(dst []byte, models []Model, more bool) []byte {
	dst = append(dst, `{"data":[`...)
	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}
	dst = strconv.AppendBool(append(dst, `],"has_more":`...), more)
	if len(models) == 0 {
		return append(dst, `,"first_id":null,"last_id":null}`...)
	}
	dst = openai.AppendText(dst, "first_id", models[0].ID)
	return append(openai.AppendText(dst, "last_id", models[len(models)-1].ID), '}')
}
