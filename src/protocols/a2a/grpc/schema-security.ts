/** The security messages that did not change between 0.3 and 1.0. */
export const SECURITY_MESSAGES = {
  StringList: { list: "repeated string 1" },
  SecurityScheme: {
    apiKeySecurityScheme: "oneof APIKeySecurityScheme 1",
    httpAuthSecurityScheme: "oneof HTTPAuthSecurityScheme 2",
    oauth2SecurityScheme: "oneof OAuth2SecurityScheme 3",
    openIdConnectSecurityScheme: "oneof OpenIdConnectSecurityScheme 4",
    mtlsSecurityScheme: "oneof MutualTlsSecurityScheme 5",
  },
  APIKeySecurityScheme: { description: "string 1", location: "string 2", name: "string 3" },
  HTTPAuthSecurityScheme: { description: "string 1", scheme: "string 2", bearerFormat: "string 3" },
  OAuth2SecurityScheme: { description: "string 1", flows: "OAuthFlows 2", oauth2MetadataUrl: "string 3" },
  OpenIdConnectSecurityScheme: { description: "string 1", openIdConnectUrl: "string 2" },
  MutualTlsSecurityScheme: { description: "string 1" },
  ClientCredentialsOAuthFlow: { tokenUrl: "string 1", refreshUrl: "string 2", scopes: "map string 3" },
  ImplicitOAuthFlow: { authorizationUrl: "string 1", refreshUrl: "string 2", scopes: "map string 3" },
  PasswordOAuthFlow: { tokenUrl: "string 1", refreshUrl: "string 2", scopes: "map string 3" },
} as const;
