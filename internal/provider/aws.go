package provider

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Dialects with the protocols of Amazon Bedrock.
const (
	Bedrock          = "bedrock"           // Converse
	BedrockAnthropic = "bedrock-anthropic" // Claude: InvokeModel
)

// The protocols of Amazon Bedrock.
const (
	Converse    Protocol = "Converse"
	InvokeModel Protocol = "InvokeModel"
)

// bedrock is the dialect of Amazon Bedrock's Converse, and of its models that embed.
var bedrock = &Dialect{
	name:     Bedrock,
	bases:    map[string]string{ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com"},
	usualAt:  []string{ServiceBedrock},
	path:     conversePath,
	keyField: BearerField,
	lists:    bedrockLists,
	protocol: Converse,
}

func conversePath(op Operation, model string, stream bool) string {
	switch {
	case op == Chat && stream:
		return bedrockPath(model, "/converse-stream")
	case op == Chat:
		return bedrockPath(model, "/converse")
	case op == Embeddings:
		return bedrockPath(model, "/invoke")
	case op == CountTokens:
		return bedrockPath(counted(model), countTokens)
	case op == Models:
		return foundationModels
	}
	return ""
}

const countTokens = "/count-tokens"

// profiles begin the names of inference profiles that span regions.
var profiles = []string{"us", "us-gov", "eu", "apac", "jp", "au", "ca", "global"}

// counted returns the base model of a profile: CountTokens knows no others.
func counted(model string) string {
	for _, kind := range []string{":inference-profile/", ":foundation-model/"} {
		if _, id, arn := strings.Cut(model, kind); arn {
			model = id
		}
	}
	if area, base, ok := strings.Cut(model, "."); ok && slices.Contains(profiles, area) {
		return base
	}
	return model
}

// bedrockPath is the path of an action of a model, whose id is one segment: it may have colons and,
// in an ARN, slashes. AWS signs it with both escaped.
func bedrockPath(model, action string) string {
	escaped := strings.ReplaceAll(url.PathEscape(model), ":", "%3A")
	if strings.Trim(escaped, ".") == "" { // no parent folder
		escaped = strings.ReplaceAll(escaped, ".", "%2E")
	}
	return "/model/" + escaped + action
}

// foundationModels is the path of Bedrock's list of models.
const foundationModels = "/foundation-models"

// bedrockLists are the addresses of what can be called on demand.
func bedrockLists(root string) []string {
	return []string{root + foundationModels + "?byInferenceType=ON_DEMAND", root + "/inference-profiles?maxResults=1000"}
}

// bedrockAnthropic is the dialect of Claude by Bedrock's InvokeModel.
var bedrockAnthropic = &Dialect{
	name:     BedrockAnthropic,
	bases:    map[string]string{ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com"},
	path:     invokePath,
	keyField: BearerField,
	lists:    bedrockLists,
	protocol: InvokeModel,
}

func invokePath(op Operation, model string, stream bool) string {
	switch {
	case op == Messages && stream:
		return bedrockPath(model, "/invoke-with-response-stream")
	case op == Messages:
		return bedrockPath(model, "/invoke")
	case op == CountTokens:
		return bedrockPath(counted(model), countTokens)
	case op == Models:
		return foundationModels
	}
	return ""
}

// expiredAtAWS reports whether AWS refused temporary keys that had expired, which some of its
// services say with 400.
func expiredAtAWS(resp *http.Response) bool {
	return resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(resp.Header.Get("X-Amzn-Errortype"), "ExpiredToken")
}
