package anthropicrules

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Cloud checks fields that Claude on Bedrock and on Vertex AI has with a beta only, or not at all:
// cache_control of the whole request ("Automatic caching", not on these platforms), and its scope.
func Cloud(header http.Header, body []byte) error {
	var r fields
	if err := decodeFields(body, &r, ""); err != nil {
		return err
	}
	if r.present("cache_control") {
		return field("cache_control", "Extra inputs are not permitted")
	}
	if strings.Contains(strings.Join(header.Values("Anthropic-Beta"), ",")+string(r["anthropic_beta"]), "prompt-caching-scope") {
		return nil
	}
	return scoped(body)
}

// scoped refuses a scope in any cache_control.
func scoped(raw json.RawMessage) error {
	var members fields
	var list []json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		var control fields
		if members.present("cache_control") && json.Unmarshal(members["cache_control"], &control) == nil && control.present("scope") {
			return field("cache_control.ephemeral.scope", "Extra inputs are not permitted")
		}
		for name, inner := range members {
			if err := scoped(inner); err != nil {
				return fmt.Errorf("%s.%w", name, err)
			}
		}
	} else if json.Unmarshal(raw, &list) == nil {
		for i, inner := range list {
			if err := scoped(inner); err != nil {
				return fmt.Errorf("%d.%w", i, err)
			}
		}
	}
	return nil
}
