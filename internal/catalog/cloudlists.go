package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// geminiPrefix begins the names of Gemini's list ({"models": [{"name": "models/…", "displayName",
// "inputTokenLimit", "outputTokenLimit", "supportedGenerationMethods": […]}], "nextPageToken"}).
const geminiPrefix = "models/"

// maxPageToken bounds the token of the next page, in bytes; known ones have about 100.
const maxPageToken = 2048

// listedName returns the name by which the model of an entry is called.
func (f facts) listedName() string {
	if name, ok := strings.CutPrefix(f.text("name"), geminiPrefix); ok && f["id"] == nil {
		return name
	}
	return f.text("id")
}

// geminiMode distinguishes the models of Gemini's list by their methods, "" for another list.
func (f facts) geminiMode() string {
	switch methods := f.texts("supportedGenerationMethods"); {
	case slices.Contains(methods, "generateContent"):
		return ModeChat
	case slices.Contains(methods, "embedContent"):
		return ModeEmbedding
	case len(methods) > 0:
		return methods[0]
	}
	return ""
}

// nameIn returns the name of an entry of a list, and the model that it is a deployment of, "" for a
// model itself. Azure OpenAI lists {"data": [{"object": "deployment", "id", "model"}]}, a project of
// Microsoft Foundry {"value": [{"type": "ModelDeployment", "name", "modelName"}]}.
func (f facts) nameIn() (name, base string) {
	if f.text("object") == "deployment" {
		base = f.text("model")
	}
	if f.text("type") == "ModelDeployment" {
		name, base = f.text("name"), f.text("modelName")
	}
	return cmp.Or(f.listedName(), name), base
}
