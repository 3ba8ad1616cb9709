package catalog

import (
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
