package document

import "slices"

// The exemptions of the Messages API and of embeddings.
var (
	messagesRequest = slices.Concat([]exemption{
		{shape: apiWord, in: atTop, members: `cache_control.type cache_control.ttl thinking.type thinking.display output_config.effort
			output_config.format.type output_format.type speed mcp_servers.type tools.allowed_callers tools.cache_control.type
			tools.cache_control.ttl context_management.edits.type context_management.edits.trigger.type context_management.edits.keep.type
			encoding_format`},
		{shape: modelName, in: atTop, members: "fallbacks.model"},
		{shape: callerID, in: atTop, members: "container container.id"},
	}, blockExemptions(callerID, "system", "messages.content"))

	messagesAnswer = slices.Concat([]exemption{
		{shape: anyString, in: atTop, members: "message.model"},
		{shape: apiWord, in: []string{"", "message", "delta"}, members: `type role stop_reason stop_details.type stop_details.category usage.service_tier
			context_management.applied_edits.type`},
		{shape: providerID, in: []string{"", "message", "delta"}, members: "id container.id"},
		{shape: providerID, in: atTop, members: "request_id"},
		{shape: apiWord, in: atTop, members: "delta.citation.type data.object"},
		{shape: providerID, in: atTop, members: "delta.citation.file_id"},
		{shape: base64Data, in: atTop, members: "delta.signature delta.encrypted_content delta.citation.encrypted_index data.embedding"},
	}, blockExemptions(providerID, "content", "message.content", "content_block"))
)

// blockExemptions returns the exemptions in content blocks of the Messages API, and in the blocks
// within them: those of results of tools and of documents.
func blockExemptions(identifier shape, blocks ...string) []exemption {
	for _, block := range slices.Clone(blocks) {
		blocks = append(blocks, block+".content", block+".source.content", block+".content.content", block+".content.source.content")
	}
	return []exemption{
		{shape: apiWord, in: blocks, members: "type source.type cache_control.type cache_control.ttl citations.type caller.type"},
		{shape: mediaType, in: blocks, members: "source.media_type"},
		{shape: identifier, in: blocks, members: "id tool_use_id file_id source.file_id citations.file_id caller.tool_id"},
		{shape: base64Data, in: blocks, members: "signature encrypted_content encrypted_stdout citations.encrypted_index"},
		{shape: base64Data, of: "base64", in: blocks, members: "source.data"}, // of a document it may be text
		{shape: base64Data, of: "redacted_thinking", in: blocks, members: "data"},
		{shape: toolInput, in: blocks, members: "input"},
	}
}

// mediaTypes are the types of the data of images and documents.
var mediaTypes = setOf("image/jpeg image/png image/gif image/webp application/pdf text/plain application/json audio/wav audio/mp3")
