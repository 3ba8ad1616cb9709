package gemini

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ModelPrefix begins the names of models in Google's API.
const ModelPrefix = "models/"

// Model is one model of GET /v1beta/models.
type Model struct {
	ID            string // "<provider>/<name>"
	DisplayName   string
	Description   string
	ContextLength int64 // tokens; 0 is unknown and left out
	MaxOutput     int64 // tokens; 0 is unknown and left out
	Methods       []string
}

// AppendModel appends the answer of GET /v1beta/models/{model}, which is also an item of the list.
func AppendModel(dst []byte, m Model) []byte {
	dst = append(dst, `{"name":`...)
	dst = jsonscan.AppendString(dst, ModelPrefix+m.ID)
	dst = append(dst, `,"displayName":`...)
	dst = jsonscan.AppendString(dst, m.DisplayName)
	if m.Description != "" {
		dst = append(dst, `,"description":`...)
		dst = jsonscan.AppendString(dst, m.Description)
	}
	dst = appendCount(dst, "inputTokenLimit", m.ContextLength)
	dst = appendCount(dst, "outputTokenLimit", m.MaxOutput)
	dst = append(dst, `,"supportedGenerationMethods":[`...)
	for i, method := range m.Methods {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, method)
	}
	return append(dst, "]}"...)
}

func appendCount(dst []byte, key string, n int64) []byte {
	if n <= 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, `,"`+key+`":`...), n, 10)
}

// AppendModelList appends one page of GET /v1beta/models. Next asks for the one that follows, "" for none.
func AppendModelList(dst []byte, models []Model, next string) []byte {
	dst = append(dst, `{"models":[`...)
	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}
	dst = append(dst, ']')
	if next != "" {
		dst = jsonscan.AppendString(append(dst, `,"nextPageToken":`...), next)
	}
	return append(dst, '}')
}
