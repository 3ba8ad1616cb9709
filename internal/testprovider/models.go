package testprovider

import (
	"net/http"
	"strings"
	"time"
)

// Created is the creation time of every model, in unix seconds: constant, so that
// two lists are equal.
const Created = 1_767_225_600 // 2026-01-01

// Model is one model of the provider.
type Model struct {
	// ID is the name under which the model is called.
	ID string
	// Description is one sentence on what the model does.
	Description string
	// Embeds says that the model makes embeddings and does not write.
	Embeds bool

	pace  time.Duration // before each word
	fails bool
	fixed string // said to everybody; "": echoes
}

var models = []Model{
	{ID: "echo", Description: "Repeats the last user message."},
	{ID: "embed", Description: "Embeds texts: those with common words have similar embeddings.", Embeds: true},
	{ID: "fail", Description: "Always fails: status 500, or a stream that breaks off.", fails: true},
	{ID: "lorem", Description: "Says the same 512 words to everybody.", fixed: lorem(512)},
	{ID: "slow", Description: "Repeats the last user message, one word every 200 ms.", pace: 200 * time.Millisecond},
}

// Models returns all models, by name.
func Models() []Model {
	return append([]Model(nil), models...)
}

func findModel(id string) (Model, error) {
	if id == "" {
		return Model{}, errMissing("model")
	}
	for _, m := range models {
		if m.ID == id {
			return m, nil
		}
	}
	return Model{}, refuse(http.StatusNotFound, "model_not_found", "model", "the model %q does not exist", id)
}

func errFails(id string) error {
	return refuse(http.StatusInternalServerError, "", "", "the model %q always fails", id)
}

// lorem returns n words of filler.
func lorem(n int) string {
	words := strings.Fields("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua")
	text := make([]string, n)
	for i := range text {
		text[i] = words[i%len(words)]
	}
	return strings.Join(text, " ")
}
