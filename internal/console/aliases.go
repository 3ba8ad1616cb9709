package console

import "github.com/gatehouse-proxy/gatehouse/internal/keys"

// aliasOwner owns, in GET /v1/models, the names that stand for models.
const aliasOwner = "gatehouse"

// notesOfModels has "alias" for each name that stands for models, of those that the key may list.
func notesOfModels(v *visit) map[string]string {
	var list struct {
		Data []struct {
			ID    string
			Owner string `json:"owned_by"`
		}
	}
	if !v.has(keys.ModelsRead) || v.get("/v1/models", nil, &list) != nil {
		return nil // the pages are complete without these words
	}
	notes := make(map[string]string)
	for _, m := range list.Data {
		if m.Owner == aliasOwner {
			notes[m.ID] = "alias"
		}
	}
	return notes
}
