//! E-mail by SMTP.

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use secrecy::ExposeSecret as _;

use super::{ChannelError, Notification, NotifyChannel};
use crate::options::EmailOptions;

#[derive(Debug)]
pub struct Email {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    to: Vec<Mailbox>,
}

impl Email {
    /// The errors never show the password.
    pub fn new(options: &EmailOptions) -> Result<Self, String> {
        let address = |text: &String| text.parse::<Mailbox>().map_err(|_| format!("`{text}` is not an e-mail address"));
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(options.server.expose_secret())
            .map_err(|_| "the address of the mail server is not one, such as `smtps://user:password@mail.example.org`")?
            .build();
        let to = options.to.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { transport, from: address(&options.from)?, to })
    }
}

#[async_trait]
impl NotifyChannel for Email {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError> {
        let domain = self.from.email.domain();
        let mut message = Message::builder()
            .from(self.from.clone())
            .subject(notification.subject())
            // A mail server may drop a second mail of the same name.
            .message_id(Some(format!("<{}@{domain}>", notification.id)))
            .header(ContentType::TEXT_PLAIN);
        for to in &self.to {
            message = message.to(to.clone());
        }
        let message = message
            .body(notification.text())
            .map_err(|error| ChannelError::Permanent(format!("the e-mail cannot be written: {error}")))?;
        match self.transport.send(message).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_permanent() => {
                Err(ChannelError::Permanent(format!("the mail server refused it: {}", code(&error))))
            }
            Err(error) => Err(ChannelError::Transient(format!("the mail server did not take it: {}", code(&error)))),
        }
    }
}

/// Only the code: the text of a server may repeat what it was sent.
fn code(error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(status) => status.to_string(),
        None if error.is_timeout() => "it does not answer".to_owned(),
        None => "there is no connection".to_owned(),
    }
}
