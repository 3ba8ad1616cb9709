package clouds

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var invokePath = regexp.MustCompile(`^/model/([^/]+)/invoke$`)

// embedOnBedrock answers with embeddings of two numbers, the length of the text and
// its place, as Titan and Cohere do. A text "refused" is throttled.
func embedOnBedrock(w http.ResponseWriter, r *http.Request, model string, body []byte) {
	var asked struct {
		InputText       string
		Dimensions      int
		Texts           []string
		InputType       string `json:"input_type"`
		OutputDimension int    `json:"output_dimension"`
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	cohere := strings.Contains(model, "cohere.embed-")
	err := d.Decode(&asked)
	switch {
	case r.Header.Get("Authorization") == "":
		awsError(w, 403, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	case err != nil:
		awsError(w, 400, "ValidationException", "Malformed input request: "+err.Error())
		return
	case cohere && (len(asked.Texts) == 0 || len(asked.Texts) > 96 || asked.InputType == ""),
		!cohere && (asked.InputText == "" || !strings.Contains(model, "titan-embed")),
		!slices.Contains([]int{0, 256, 512, 1024}, asked.Dimensions):
		awsError(w, 400, "ValidationException", "Malformed input request, please reformat your input and try again.")
		return
	case asked.InputText == "refused" || slices.Contains(asked.Texts, "refused"):
		awsError(w, 429, "ThrottlingException", "Too many requests, please wait before trying again.")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !cohere {
		_, _ = fmt.Fprintf(w, `{"embedding":[%d,0],"inputTextTokenCount":2}`, len(asked.InputText))
		return
	}
	var vectors []string
	for i, text := range asked.Texts {
		vectors = append(vectors, fmt.Sprintf("[%d,%d]", len(text), i))
	}
	w.Header().Set("X-Amzn-Bedrock-Input-Token-Count", strconv.Itoa(3*len(asked.Texts)))
	_, _ = fmt.Fprintf(w, `{"embeddings":[%s],"id":"x","response_type":"embeddings_floats"}`, strings.Join(vectors, ","))
}
