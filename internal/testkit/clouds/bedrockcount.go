package clouds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

var countPath = regexp.MustCompile(`^/model/([^/]+)/count-tokens$`)

// countOnBedrock counts 10 tokens a message for Claude, and refuses other models and
// profiles, as CountTokens does.
func countOnBedrock(w http.ResponseWriter, r *http.Request, model string, body []byte) {
	var asked struct {
		Input struct {
			Converse    map[string]any
			InvokeModel *struct{ Body []byte }
		}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(&asked)
	prompt, refusal := asked.Input.Converse, ""
	if invoked := asked.Input.InvokeModel; invoked != nil {
		_ = json.Unmarshal(invoked.Body, &prompt)
		if prompt["anthropic_version"] == nil || prompt["max_tokens"] == nil || prompt["model"] != nil {
			refusal = "Malformed input request: max_tokens is missing"
		}
	} else {
		refusal = unknownName(names{
			"messages": converseNames["messages"], "system": converseNames["system"], "toolConfig": converseNames["toolConfig"], "additionalModelRequestFields": nil,
		}, prompt, "")
	}
	switch {
	case r.Header.Get("Authorization") == "":
		awsError(w, 403, "MissingAuthenticationTokenException", "Missing Authentication Token")
	case strings.Contains(model, "denied"):
		awsError(w, 403, "AccessDeniedException", "is not authorized to perform: bedrock:CountTokens")
	case err != nil || prompt == nil:
		awsError(w, 400, "ValidationException", "Malformed input request")
	case refusal != "":
		awsError(w, 400, "ValidationException", refusal)
	case !strings.HasPrefix(model, "anthropic."):
		awsError(w, 400, "ValidationException", "The provided model doesn't support counting tokens.")
	default:
		messages, _ := prompt["messages"].([]any)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"inputTokens":%d}`, 10*len(messages))
	}
}
