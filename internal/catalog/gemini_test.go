package catalog

import "testing"

func TestGeminisListIsRead(t *testing.T) {
	models, odd, err := ParseDiscovered("google", []byte(`{"models":[
		{"name":"models/gemini-3.7-flash","version":"001","displayName":"Gemini 3.7 Flash","description":"Fast.","inputTokenLimit":1048576,"outputTokenLimit":65536,
		 "supportedGenerationMethods":["generateContent","countTokens","createCachedContent"],"temperature":1,"maxTemperature":2,"thinking":true},
		{"name":"models/gemini-embedding-001","displayName":"Embedding","inputTokenLimit":2048,"outputTokenLimit":1,"supportedGenerationMethods":["embedContent","countTextTokens"]},
		{"name":"models/imagen-4","supportedGenerationMethods":["predict"]},
		{"name":"models/"},{"name":7}],"nextPageToken":"next"}`))
	if err != nil || odd == nil || len(models) != 3 {
		t.Fatalf("%+v, %v, %v", models, odd, err)
	}
	flash, embedding, imagen := models[0], models[1], models[2]
	if flash.ID != "google/gemini-3.7-flash" || flash.Name != "gemini-3.7-flash" || flash.DisplayName != "Gemini 3.7 Flash" || flash.Description != "Fast." ||
		flash.ContextLength != 1<<20 || flash.MaxOutput != 1<<16 || !flash.Serves(OpChat) || flash.Serves(OpEmbeddings) {
		t.Errorf("%+v", flash)
	}
	if embedding.Name != "gemini-embedding-001" || embedding.ContextLength != 2048 || embedding.Serves(OpChat) || !embedding.Serves(OpEmbeddings) {
		t.Errorf("%+v", embedding)
	}
	if imagen.Serves(OpChat) || imagen.Serves(OpEmbeddings) || imagen.callable() {
		t.Errorf("%+v", imagen)
	}
}

// Some servers of OpenAI's list name their models twice.
func TestTheListInDataCounts(t *testing.T) {
	models, odd, err := ParseDiscovered("local", []byte(`{"models":[{"name":"a","model":"a"}],"object":"list","data":[{"id":"a","name":"models/b"}]}`))
	if err != nil || odd != nil || len(models) != 1 || models[0].Name != "a" {
		t.Errorf("%+v, %v, %v", models, odd, err)
	}
}
