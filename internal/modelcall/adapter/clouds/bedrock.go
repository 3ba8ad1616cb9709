package clouds

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// bedrock is the dialect of Amazon Bedrock's Converse, and of its models that embed.
var bedrock = &provider.Dialect{
	Name:     provider.Bedrock,
	Bases:    map[string]string{provider.ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com"},
	UsualAt:  []string{provider.ServiceBedrock},
	Path:     conversePath,
	KeyField: provider.BearerField,
	Lists:    provider.BedrockLists,
}

func conversePath(op provider.Operation, model string, stream bool) string {
	switch {
	case op == provider.Chat && stream:
		return bedrockPath(model, "/converse-stream")
	case op == provider.Chat:
		return bedrockPath(model, "/converse")
	case op == provider.Embeddings:
		return bedrockPath(model, "/invoke")
	case op == provider.CountTokens:
		return bedrockPath(counted(model), countTokens)
	case op == provider.Models:
		return provider.FoundationModels
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

// bedrockAnthropic is the dialect of Claude by Bedrock's InvokeModel.
var bedrockAnthropic = &provider.Dialect{
	Name:     provider.BedrockAnthropic,
	Bases:    map[string]string{provider.ServiceBedrock: "https://bedrock-runtime.{region}.amazonaws.com"},
	Path:     invokePath,
	KeyField: provider.BearerField,
	Lists:    provider.BedrockLists,
}

func invokePath(op provider.Operation, model string, stream bool) string {
	switch {
	case op == provider.Messages && stream:
		return bedrockPath(model, "/invoke-with-response-stream")
	case op == provider.Messages:
		return bedrockPath(model, "/invoke")
	case op == provider.CountTokens:
		return bedrockPath(counted(model), countTokens)
	case op == provider.Models:
		return provider.FoundationModels
	}
	return ""
}
