//! The promises of `ApprovalStore`: the records about approvers and the approval policy; `pins`: accepted tools of upstream
//! servers.

pub(crate) mod pins;

use planwright_core::approval::record::SealedRecord;

use crate::stores::Store;

pub(crate) async fn records_keep_their_order_and_a_number_is_given_once(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    assert_eq!((ledger.approval_records().await.unwrap(), ledger.approval_head().await.unwrap()), (Vec::new(), None));
    let record = |seq, mark| SealedRecord { seq, body: format!("{{\"ż \0 漢\": {mark}}}"), hash: [mark; 32] };
    assert!(ledger.add_approval_record(&record(1, 1)).await.unwrap());
    assert!(!other.add_approval_record(&record(1, 9)).await.unwrap(), "another process was faster");
    assert!(other.add_approval_record(&record(2, 2)).await.unwrap());
    assert_eq!(ledger.approval_records().await.unwrap(), [record(1, 1), record(2, 2)]);
    assert_eq!(ledger.approval_head().await.unwrap(), Some([2; 32]));
}
