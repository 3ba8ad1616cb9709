package provider_test

// The dialects of features.
import (
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/clouds"
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/gemini"
)
