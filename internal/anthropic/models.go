package anthropic

import (
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
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
	dst = append(dst, `{"type":"model","id":`...)
	dst = jsonscan.AppendString(dst, m.ID)
	dst = append(dst, `,"display_name":`...)
	dst = jsonscan.AppendString(dst, m.DisplayName)
	dst = append(dst, `,"created_at":"`...)
	dst = time.Unix(m.Created, 0).UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, '"')
	dst = appendCount(dst, "max_input_tokens", m.ContextLength)
	dst = appendCount(dst, "max_tokens", m.MaxOutput)
	return append(dst, '}')
}

func appendCount(dst []byte, key string, n int64) []byte {
	if n <= 0 {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	return strconv.AppendInt(dst, n, 10)
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
	dst = append(dst, `],"has_more":`...)
	dst = strconv.AppendBool(dst, more)
	dst = append(dst, `,"first_id":`...)
	if len(models) == 0 {
		return append(dst, `null,"last_id":null}`...)
	}
	dst = jsonscan.AppendString(dst, models[0].ID)
	dst = append(dst, `,"last_id":`...)
	dst = jsonscan.AppendString(dst, models[len(models)-1].ID)
	return append(dst, '}')
}
