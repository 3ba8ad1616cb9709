package catalog

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// listMembers are the members of an answer that are its list of models: of OpenAI, Foundry, Gemini,
// Vertex AI, and Bedrock's two.
var listMembers = []string{"data", "value", "models", "publisherModels", "modelSummaries", "inferenceProfileSummaries"}

// listMember returns the name of the member that is the list.
func listMember(top []member) string {
	for _, key := range listMembers {
		if slices.ContainsFunc(top, func(m member) bool { return m.key == key }) {
			return key
		}
	}
	return listMembers[0]
}

// maxPageToken bounds what asks for the next page, in bytes; known tokens have about 100.
const maxPageToken = 2048

// NextPage returns the parameters of a query for the page that follows a page of a list, "" for the last
// page or one that is no list.
func NextPage(data []byte) string {
	f := record(data)
	parameter, token := "", ""
	switch {
	case f.text("nextPageToken") != "": // Google
		parameter, token = "pageToken", f.text("nextPageToken")
	case f.text("nextToken") != "": // AWS
		parameter, token = "nextToken", f.text("nextToken")
	case f.flag("has_more"): // Anthropic
		parameter, token = "after_id", f.text("last_id")
	case f.text("nextLink") != "": // Azure: of the address only the query counts, the host is known
		if link, err := url.Parse(f.text("nextLink")); err == nil && len(link.RawQuery) <= maxPageToken {
			return link.RawQuery
		}
	}
	if token == "" || len(token) > maxPageToken {
		return ""
	}
	return url.Values{parameter: {token}}.Encode()
}

// resource returns the name of an entry without the collection that Google writes before it: Gemini's
// list is {"models": [{"name": "models/…", "displayName", "inputTokenLimit", "outputTokenLimit",
// "supportedGenerationMethods": […]}]}, that of Vertex AI {"publisherModels": [{"name":
// "publishers/google/models/…"}]}.
func (f facts) resource() (name string, collected bool) {
	name = f.text("name")
	if before, rest, ok := strings.Cut(name, "models/"); ok && (before == "" || strings.HasPrefix(before, "publishers/")) {
		return rest, true
	}
	return name, false
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
// Microsoft Foundry {"value": [{"type": "ModelDeployment", "name", "modelName"}]}, Bedrock
// {"modelSummaries": [{"modelId", "modelName", "inputModalities", "outputModalities"}]} and
// {"inferenceProfileSummaries": [{"inferenceProfileId", "inferenceProfileArn", "type": "SYSTEM_DEFINED"
// or "APPLICATION", "models": [{"modelArn"}]}]}.
func (f facts) nameIn() (name, base string) {
	google, collected := f.resource()
	switch {
	case collected && f["id"] == nil:
		return google, ""
	case f.text("object") == "deployment":
		return f.text("id"), f.text("model")
	case f.text("type") == "ModelDeployment":
		return f.text("name"), f.text("modelName")
	case f.text("type") == "APPLICATION": // its id says nothing
		if models, _ := f.list("models"); len(models) > 0 {
			arn := record(models[0]).text("modelArn")
			base = arn[strings.LastIndexByte(arn, '/')+1:]
		}
		return f.text("inferenceProfileArn"), base
	}
	return cmp.Or(f.text("id"), f.text("modelId"), f.text("inferenceProfileId")), ""
}

// bedrockModalities returns modalities as OpenRouter calls them.
func bedrockModalities(words []string) []string {
	for i, word := range words {
		words[i] = cmp.Or(map[string]string{"EMBEDDING": "embeddings", "SPEECH": "audio"}[word], strings.ToLower(word))
	}
	return words
}
