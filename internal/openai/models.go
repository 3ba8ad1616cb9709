package openai

// Model is one model of GET /v1/models.
type Model struct {
	ID            string // "<provider>/<name>"
	Created       int64  // unix seconds
	OwnedBy       string
	ContextLength int64 // tokens; 0 is unknown and left out. OpenAI does not have it.
}

// AppendModel appends the answer of GET /v1/models/{id}, which is also an item of the list.
func AppendModel(dst []byte, m Model) []byte {
	dst = AppendText(append(dst, '{'), "id", m.ID)
	dst = AppendInt(append(dst, `,"object":"model"`...), "created", m.Created)
	dst = AppendText(dst, "owned_by", m.OwnedBy)
	if m.ContextLength > 0 {
		dst = AppendInt(dst, "context_length", m.ContextLength)
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
