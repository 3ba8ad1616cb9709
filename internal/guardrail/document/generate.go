package document

import "slices"

// The exemptions of Google's generateContent.
var (
	generateRequest = slices.Concat([]exemption{
		{shape: capitals, in: []string{"", "generateContentRequest"}, members: `safetySettings.category safetySettings.threshold
			toolConfig.functionCallingConfig.mode generationConfig.responseModalities generationConfig.thinkingConfig.thinkingLevel
			generationConfig.mediaResolution serviceTier taskType requests.taskType`},
		{shape: mediaType, in: []string{"", "generateContentRequest"}, members: "generationConfig.responseMimeType"},
		{shape: modelName, in: []string{"generateContentRequest", "requests"}, members: "model"},
		{shape: base64Data, in: atTop, members: "continuationToken"},
	}, partExemptions(callerID, "contents", "systemInstruction", "content", "requests.content",
		"generateContentRequest.contents", "generateContentRequest.systemInstruction"))

	generateAnswer = slices.Concat([]exemption{
		{shape: anyString, in: atTop, members: "modelVersion"},
		{shape: providerID, in: atTop, members: "responseId createTime"},
		{shape: capitals, in: atTop, members: `promptFeedback.blockReason promptFeedback.safetyRatings.category promptFeedback.safetyRatings.probability
			candidates.finishReason candidates.safetyRatings.category candidates.safetyRatings.probability candidates.safetyRatings.severity
			usageMetadata.trafficType usageMetadata.serviceTier usageMetadata.promptTokensDetails.modality
			usageMetadata.candidatesTokensDetails.modality usageMetadata.cacheTokensDetails.modality usageMetadata.toolUsePromptTokensDetails.modality`},
		{shape: base64Data, in: atTop, members: "candidates.continuationToken"},
	}, partExemptions(providerID, "candidates.content"))
)

// partExemptions returns the exemptions in contents and in their parts.
func partExemptions(identifier shape, contents ...string) []exemption {
	var parts []string
	for _, content := range contents {
		parts = append(parts, content+".parts", content+".parts.functionResponse.parts")
	}
	return []exemption{
		{shape: apiWord, in: contents, members: "role"},
		{shape: mediaType, in: parts, members: "inlineData.mimeType fileData.mimeType"},
		{shape: base64Data, in: parts, members: "inlineData.data inline_data.data thoughtSignature thought_signature"},
		{shape: identifier, in: parts, members: "functionCall.id functionResponse.id"},
		{shape: toolInput, in: parts, members: "functionCall.args function_call.args"},
		{shape: toolData, in: parts, members: "functionResponse.response function_response.response"},
	}
}
