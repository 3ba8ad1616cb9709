// Package chatongemini serves a caller of chat completions by a provider that has Google's
// generateContent: the Gemini API, or Vertex AI. It is read from Google's SDKs and its pages on the Gemini
// API, and was not tried against a live account.
package chatongemini

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Original is what of a request its answer needs.
type Original struct {
	functions     translate.Functions
	hideReasoning bool
	searches      bool   // the provider may cite sources
	body          []byte // the request that was sent, if its answer may have to be continued; else nil
	dummies       func() []byte
}
