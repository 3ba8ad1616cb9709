package tracing

import "strings"

// knownProviders are the providers that have a name in the conventions, by the end of their host. The
// first one that fits counts.
var knownProviders = []struct{ host, name string }{
	{"api.openai.com", "openai"},
	{".openai.azure.com", "azure.ai.openai"},
	{".services.ai.azure.com", "azure.ai.inference"},
	{".models.ai.azure.com", "azure.ai.inference"},
	{"api.anthropic.com", "anthropic"},
	{"generativelanguage.googleapis.com", "gcp.gemini"},
	{"aiplatform.googleapis.com", "gcp.vertex_ai"}, // with a region before it, too
	{".amazonaws.com", "aws.bedrock"},
	{".ml.cloud.ibm.com", "ibm.watsonx.ai"},
	{"api.cohere.com", "cohere"},
	{"api.cohere.ai", "cohere"},
	{"api.deepseek.com", "deepseek"},
	{"api.groq.com", "groq"},
	{"api.mistral.ai", "mistral_ai"},
	{"api.perplexity.ai", "perplexity"},
	{"api.x.ai", "x_ai"},
}

// ProviderName is the value of gen_ai.provider.name: the name that the conventions have for the
// provider at this host, else the configured one.
func ProviderName(host, configured string) string {
	host = strings.ToLower(host)
	for _, p := range knownProviders {
		if rest, ok := strings.CutSuffix(host, p.host); ok && (rest == "" || p.host[0] == '.' || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "-")) {
			return p.name
		}
	}
	return configured
}
