// Package gemini is Google's API, of callers and of providers.
package gemini

// What registers itself.
import (
	_ "github.com/gatehouse-proxy/gatehouse/handlers/gemini"                   // its endpoints
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/gemini" // its dialect
)
