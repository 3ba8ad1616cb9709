package document

// The messages of MCP have no exemptions: every string in them is read. Of these members keys and numbers
// are too, because servers and models read them as text.
var (
	// mcpRequest are those of a client's messages: its answers to what a server asked, in either era.
	mcpRequest = []exemption{{shape: toolData, in: atTop, members: "result.content params.inputResponses"}}

	// mcpAnswer are those of a server's messages: results, what it asks the client, log messages, errors.
	mcpAnswer = []exemption{
		{shape: toolData, in: atTop, members: "result.structuredContent result.inputRequests params.data error.data"},
		{shape: toolInput, in: []string{"params.messages.content"}, members: "input"},
		{shape: toolData, in: []string{"params.messages.content"}, members: "structuredContent"},
	}
)
